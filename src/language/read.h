// SPDX-License-Identifier: MIT
//
// read.h: interface between the readers of the sections of a model, which turn the tree of one run
// into its description. Private to language/. Every reader takes the node to read and its key
// (`what`, for messages), and fails at the source location of the fault.
#pragma once

#include "language/document.h"
#include "language/language.h"
#include "language/mesh_file.h"
#include "language/names.h"
#include "language/tree.h"

// Kinds of named things. They share one namespace, so that override paths are unambiguous.
typedef enum snw_thing {
    SNW_THING_MATERIAL,
    SNW_THING_LINK,
    SNW_THING_SITE,
    SNW_THING_LOOP,
    SNW_THING_LOAD,
    SNW_THING_ACTUATOR,
    SNW_THING_FLUID,
    SNW_THING_CONTACT,
    SNW_THING_SPRING,
    SNW_THING_FIELD,
    SNW_THING_STEP
} snw_thing;

typedef struct snw_reader {
    snw_pool *pool; // owns the description
    snw_desc *desc; // filled section by section
    const snw_node *root;
    snw_error *err;
    const snw_document *document;
    const snw_source *source; // the tree is that of run `run` of this source

    snw_names things;            // index: position in the list of its kind
    snw_material_desc *material; // by index of the thing
    const snw_entry **site_entry;
    snw_site *site;       // named sites, by index
    char *site_state;     // 0 unread, 1 being read, 2 read
    bool sliding_allowed; // stations of sites may currently be laws of t
    bool weightless;      // no gravity and no dynamics: masses are not needed

    snw_names probes;
    snw_signals *signals;
    double *step_end;       // time at the end of each step
    double t_first, t_last; // time covered by the study

    int nrun; // names of all runs, and the current one
    const char *const *run_name;
    int run;
    int nexpect; // expectations that apply to this run
    const snw_expect *expect;
} snw_reader;

// ---- sections, in the order in which they are read ----------------------------------------------

// Read the robot, its actuators, loads and surroundings, up to and including the probes.
snw_status snw_read_model(snw_reader *r);

snw_status snw_read_names(snw_reader *r);     // of things: valid and unique
snw_status snw_read_materials(snw_reader *r); // needs names
snw_status snw_read_robot(snw_reader *r);     // needs materials
snw_status snw_read_loops(snw_reader *r);     // this and the following need the robot
snw_status snw_read_loads(snw_reader *r);
snw_status snw_read_actuators(snw_reader *r);
snw_status snw_read_fluids(snw_reader *r);
snw_status snw_read_contacts(snw_reader *r);
snw_status snw_read_force_elements(snw_reader *r);
snw_status snw_read_force_fields(snw_reader *r);
snw_status snw_read_initial(snw_reader *r);
snw_status snw_read_probes(snw_reader *r);
snw_status snw_read_states(snw_reader *r); // needs probes
snw_status snw_read_holds(snw_reader *r);  // `hold` of actuators, needs probes
snw_status snw_read_study(snw_reader *r);
snw_status snw_read_record(snw_reader *r);  // needs probes
snw_status snw_read_expects(snw_reader *r); // needs probes, study and record
snw_status snw_read_live(snw_reader *r);    // needs actuators
// *out <- the block `optimize`; unchanged when there is none.
struct snw_optimize_options;
snw_status snw_read_optimize(snw_reader *r, const struct snw_optimize_options **out);
snw_status snw_read_commands(snw_reader *r); // checks the block `commands`
snw_status snw_read_changes(snw_reader *r);  // needs all others
// Set the overrides of the description, which the result file stores. Called last.
snw_status snw_read_run_overrides(snw_reader *r);
// The overrides of a study's changes before step `until`, then those of `set`, "path=value".
snw_status snw_read_overrides(const snw_source *source, int run, int until, int nset,
                              const char *const *set, snw_pool *pool, int *n, const snw_entry **out,
                              snw_error *err);
// Check that b has the coordinates, loads, actuators, probes and signals of a; `by` names the
// change in messages.
snw_status snw_check_change(const snw_desc *a, const snw_desc *b, const char *by, snw_error *err);
// The description of a run of a source of the document, with the changes of its study before step
// `until` and overrides, "path=value"; it must have the coordinates of `like`.
snw_status snw_document_reread(const snw_document *d, const snw_source *source, int run, int until,
                               int nset, const char *const *set, const snw_desc *like,
                               snw_desc **out, snw_error *err);
// Set the signals that laws read in every description of the study, after all are read.
snw_status snw_read_signals(snw_reader *r);
// The kind of a probe from its key; false when it has none.
bool snw_probe_kind_written(const snw_node *probe, snw_probe_kind *kind);

// Read the body of step `index` of the study.
snw_status snw_read_kinematic(snw_reader *r, const snw_node *node, int index, snw_step_desc *out);
// Read the engine of a step and its `shooting` options; either entry may be NULL.
snw_status snw_read_engine(snw_reader *r, const snw_entry *engine, const snw_entry *shooting,
                           snw_step_desc *out);
snw_status snw_read_dynamic(snw_reader *r, const snw_node *node, int index, snw_step_desc *out);
snw_status snw_read_change(snw_reader *r, const snw_node *node, snw_step_desc *out);
snw_status snw_read_path(snw_reader *r, const snw_node *node, int index, snw_step_desc *out);
snw_status snw_read_inverse(snw_reader *r, const snw_node *node, int index, snw_step_desc *out);
snw_status snw_read_linearize(snw_reader *r, const snw_node *node, int index, snw_step_desc *out);
// The family of step `index`, without parameters yet (read_family.c); it refers to *out.
snw_status snw_read_family(snw_reader *r, int index, snw_desc_family *out);
// *k <- number of the parameter of a name, a parameter or another number of the file, named as
// overrides are; it joins the family. `what` is the step in messages.
snw_status snw_read_family_add(snw_reader *r, const snw_node *node, const char *name, int index,
                               const char *what, snw_desc_family *out, int *k);
// The actuator or load of a name, and its component, -1: all; false: there is none.
bool snw_find_input(snw_reader *r, const char *name, snw_inverse_input_desc *out);
// Name of an input with its component.
const char *snw_input_name(snw_reader *r, const snw_inverse_input_desc *x);
// Has the file a law for this component of a load?
bool snw_load_has(const snw_load_desc *d, int k);
// The actuators and loads that a change gives new values: they follow their laws again.
snw_status snw_read_releases(snw_reader *r, const snw_node *change, snw_step_desc *out);
// Duration and step of equilibria at successive times; both entries or none.
snw_status snw_read_instants(snw_reader *r, const snw_entry *duration, const snw_entry *step,
                             snw_step_desc *out);
bool snw_study_has_dynamic(const snw_node *study); // true if it has a dynamic step
// Index of the earlier step, by name, that step `index` starts from.
snw_status snw_read_from(snw_reader *r, const snw_node *node, int index, int *out);
// A number between 0 and 1.
snw_status snw_read_tolerance(snw_reader *r, const snw_node *node, double *out);
// Check that a time step fits the duration and that the number of steps is within the limit.
snw_status snw_check_step(snw_reader *r, const snw_node *node, double duration, double step);

snw_status snw_read_rod(snw_reader *r, const snw_node *node, const char *link, snw_rod_desc *out);
// Keys of a hyperelastic material, at most one of them; `linear`: a modulus given beside them.
typedef struct snw_hyperelastic_keys {
    const snw_entry *neo_hookean, *mooney_rivlin, *ogden, *linear;
} snw_hyperelastic_keys;
snw_status snw_read_hyperelastic(snw_reader *r, const snw_hyperelastic_keys *keys,
                                 snw_material_desc *m);
snw_status snw_read_relaxation(snw_reader *r, const snw_entry *entry, snw_material_desc *m);
// Energy or stresses of a section as expressions of the strains or tables; NULL when not given.
snw_status snw_read_section_law(snw_reader *r, const snw_entry *energy, const snw_entry *stress,
                                snw_section_desc *out);
// Read strain components and bases; `elements` and `breaks` are keys of the rod, NULL when not
// given.
snw_status snw_read_strain(snw_reader *r, const snw_node *node, const snw_entry *elements,
                           const snw_entry *breaks, snw_rod_desc *out);
// Read for how long the strains of an equilibrium have lasted; NULL: it is not stated.
snw_status snw_read_relaxation_rule(snw_reader *r, const snw_entry *e, snw_step_desc *out);
// Read a list of strain functions for the component of this entry, on a rod of length L; `alone`:
// they have coordinates of their own, and must be independent.
snw_status snw_read_functions(snw_reader *r, const snw_entry *e, double L, bool alone,
                              snw_basis *out);
// Read which strains move together, before their functions are read; afterwards check these and
// find their common conditioning.
snw_status snw_read_together(snw_reader *r, const snw_entry *e, snw_rod_desc *out);
snw_status snw_read_join_functions(snw_reader *r, const snw_entry *e, snw_rod_desc *out);
// Concentric tubes of a link of the file: their number (0: it has none), and that of the further
// links that they need.
int snw_tubes_written(const snw_node *link);
int snw_tubes_links(const snw_node *link);
// Read the tubes of link `host` of the description, with its further links from `extra` on: its
// base, to be put on the parent in the file, the straight part of each tube, the twist of each but
// the first.
typedef struct snw_tube_keys {
    const snw_entry *degree, *elements; // NULL when not given
} snw_tube_keys;
snw_status snw_read_tubes(snw_reader *r, const snw_node *node, const snw_tube_keys *keys, int host,
                          int extra);
snw_status snw_read_tube_rotations(snw_reader *r); // after the actuators
// Rods that slide through a loop (read_sliding.c): the largest number of them; after the links,
// split them in two; a loop that slides, when its joint is read; motors that hold the rods while
// such loops are open; the loop that keeps the length of its rod.
snw_status snw_count_sliding_rods(snw_reader *r, int *out);
snw_status snw_read_sliding_rods(snw_reader *r);
snw_status snw_read_sliding_loop(snw_reader *r, const snw_entry *when, snw_loop_desc *loop);
snw_status snw_read_locks(snw_reader *r);
snw_status snw_add_length_loop(snw_reader *r, const snw_loop_desc *loop, snw_loop_desc *out);
// Keys of a link that define its joint; NULL when not given.
typedef struct snw_joint_keys {
    const snw_entry *joint, *axis, *axes, *pitch, *stiffness, *damping, *friction, *creep, *rest,
        *limits, *stop, *armature, *mimic;
} snw_joint_keys;
snw_status snw_read_joint(snw_reader *r, const snw_joint_keys *keys, snw_link_desc *out);
// The `mimic` of the joint of link `link`, after the links, as a linear constraint of coordinates.
snw_status snw_read_mimic(snw_reader *r, const snw_entry *entry, int link, snw_loop_desc *out);
// An actuator in the file: its entry, its kind with the value of its key, the quantity that
// controls it with the value of its key, and its condition.
typedef struct snw_actuator_entry {
    const snw_entry *entry;
    snw_actuator_kind kind;
    const snw_actuator_type *type;
    const snw_entry *of;
    const snw_control_type *control; // NULL: none is given
    const snw_entry *given;
    const snw_entry *when;                      // NULL: none
    const snw_entry *effort_limit, *rate_limit; // NULL: none
} snw_actuator_entry;
// Error: nothing controls the actuator.
snw_status snw_check_control(snw_reader *r, const snw_actuator_entry *a);
// Read an actuator along a path.
snw_status snw_read_tendon(snw_reader *r, const snw_actuator_entry *a, snw_tendon_desc *out);
// Read the initial position and rate of a joint that is neither fixed nor free; NULL: zero.
snw_status snw_read_joint_start(snw_reader *r, const snw_node *position, const snw_node *rate,
                                const snw_link_desc *link, snw_initial_desc *out);
// Hunt-Crossley damping of `restitution: {ratio, speed}`, s over the unit of length of `speed`.
snw_status snw_read_restitution(snw_reader *r, const snw_entry *entry, snw_dim speed,
                                double *damping);
// `restitution` of hard contacts and stops: a number from 0 to 1.
snw_status snw_read_hard_restitution(snw_reader *r, const snw_entry *entry, double *ratio);
snw_status snw_read_body(snw_reader *r, const snw_node *node, const char *name, snw_body_desc *out);
snw_status snw_read_pose(snw_reader *r, const snw_node *node, snw_pose_desc *out); // laws of t
snw_status snw_read_pose_constant(snw_reader *r, const snw_node *node, snw_se3 *out);

// Keys of the sizes of a solid, and those of obstacles only; in the order of the bits of
// model/obstacle_kind.h.
#define SNW_SHAPE_KEYS(X, OF)                                                                      \
    X(OF##_RADIUS, "radius", "m", "of a sphere, capsule or cylinder; of the circle of a torus")    \
    X(OF##_LENGTH, "length", "m",                                                                  \
      "of the straight part of a capsule; of a cylinder, that of an obstacle being endless "       \
      "unless "                                                                                    \
      "given")                                                                                     \
    X(OF##_SIZE, "size", "three lengths, m", "full widths of a box")                               \
    X(OF##_ROUNDING, "rounding", "m",                                                              \
      "radius of the edges of a box or cylinder, 2 % of the smallest half width unless given; "    \
      "what surrounds a hull")                                                                     \
    X(OF##_FILE, "file", "the name of a file",                                                     \
      "of a mesh or hull: " SNW_MESH_FILES                                                         \
      "; of a height field: lines of numbers, x along each line "                                  \
      "and y from line to line")                                                                   \
    X(OF##_CORNERS, "corners", "list of three lengths, m", "of a hull, instead of a file")         \
    X(OF##_SCALE, "scale", "m", "length of one unit of the file, 1 m unless given")                \
    X(OF##_CELLS, "cells", "number",                                                               \
      "along the longest side, of the grid on which the surface is interpolated: 64 for a "        \
      "formula, 40 for a mesh unless given")
#define SNW_FIELD_KEYS(X, OF)                                                                      \
    X(OF##_SECTION, "section", "m", "radius of the section of a torus")                            \
    X(OF##_HEIGHT, "height", "a length, a formula in x and y",                                     \
      "of the surface of a height field, e.g. 2 cm*cos(x/0.1 m)*cos(y/0.1 m)")                     \
    X(OF##_AREA, "area", "two lengths, m",                                                         \
      "of a height field: full widths along x and y, about its origin; required")
enum {
    SNW_SHAPE_KEYS(SNW_KEY_CODE, SNW_SHAPE) SNW_FIELD_KEYS(SNW_KEY_CODE, SNW_SHAPE) SNW_SHAPE_N
};

// Where the sizes of a solid are given. A size is NULL when it is not given.
typedef struct snw_shape_source {
    const char *name;       // of what has the shape
    const snw_entry *shape; // the word
    const snw_entry *size[SNW_SHAPE_N];
    const snw_key *key; // of the sizes, `nkey` of them
    int nkey;
} snw_shape_source;

// *out <- the solid of the kind out->kind. Margin: how far from a mesh its distance is needed, m;
// negative: it is only drawn.
snw_status snw_read_shape(snw_reader *r, const snw_shape_source *s, double margin,
                          snw_obstacle *out);
// The same for the kinds whose surface is data.
snw_status snw_read_solid(snw_reader *r, const snw_shape_source *s, double margin,
                          snw_obstacle *out);
// Let the distance of a mesh be known to `margin` from it; other kinds stay as they are.
snw_status snw_read_wider(snw_reader *r, snw_source_location at, double margin, snw_obstacle *out);
// Pose by `pose`, or by `at`, laws of t, and the direction `axis` of z; NULL when not given.
snw_status snw_read_frame(snw_reader *r, const snw_entry *at, const snw_entry *axis,
                          const snw_entry *pose, snw_pose_desc *out);
// The solids of a body, from its list of shapes.
snw_status snw_read_body_shapes(snw_reader *r, const snw_entry *e, const char *name,
                                snw_body_desc *out);
// Those that are only drawn; a mesh need not be closed.
snw_status snw_read_body_visual(snw_reader *r, const snw_entry *e, const char *name,
                                snw_body_desc *out);

// The links of `on`; and whether they are rods, for the key `e` of the thing `name` whose unit
// depends on that.
snw_status snw_read_links(snw_reader *r, const snw_node *node, int *nlink, const int **out);
snw_status snw_read_are_rods(snw_reader *r, const snw_entry *e, const char *name, int nlink,
                             const int *link, bool *out);

// Layers of a link, and the check that no other thing has their names.
snw_status snw_read_layers(snw_reader *r, const snw_entry *e, snw_link_desc *out);
snw_status snw_check_layers(snw_reader *r);
// Links by name and of layers, each once. grouped (nlink of the description, or NULL): set for
// those of layers.
snw_status snw_read_group(snw_reader *r, const snw_node *node, bool *grouped, int *nlink,
                          const int **out);
// The links that touch an obstacle, after its carrier: of `links`, except those of `less` (or
// NULL).
snw_status snw_read_touching(snw_reader *r, const snw_entry *links, const snw_entry *less,
                             snw_contact_desc *out);

// Read a site: `world`, a link, `rod.root`, `rod.tip`, `rod@0.12 m`, `rod@50%`, or a named site.
snw_status snw_read_site(snw_reader *r, const snw_node *node, const char *what, snw_site *out);
// The rest of a site of link out->link: `suffix` follows its name and is empty, `.tip`, `.root` or
// `@..`.
snw_status snw_read_site_on_link(snw_reader *r, const snw_node *node, const char *suffix,
                                 snw_site *out);
// Read the named sites, after the links; links are still in the order of the file.
snw_status snw_read_sites(snw_reader *r);
// After the links have their final numbers: the named sites of the description.
snw_status snw_list_sites(snw_reader *r);

// ---- values -------------------------------------------------------------------------------------

snw_status snw_read_memory(snw_reader *r); // SNW_E_MEMORY, for a NULL from the pool

// Source location of the text of a scalar, `skip` characters in.
snw_source_location snw_text_location(const snw_node *node, size_t skip);
const snw_scope *snw_read_scope(const snw_reader *r, const snw_node *node);

// Set entry[i] to the entry of key i of the table, NULL when the map does not have it. Refuses a
// node that is not a map, unknown and repeated keys, and keys of other versions.
snw_status snw_read_map(snw_reader *r, const snw_node *node, const snw_key_table *table,
                        const snw_entry **entry);

// Entries of an optional top-level section of named things; 0 when it is missing or empty.
snw_status snw_read_section_entries(snw_reader *r, const char *key, const snw_node **out, int *n);

snw_status snw_read_text(snw_reader *r, const snw_node *node, const char *what, const char **out);
// Text with the indices of repetitions evaluated.
snw_status snw_read_name(snw_reader *r, const snw_node *node, const char *what, const char **out);
// Index of the text among n words; `what` is their list in messages.
snw_status snw_read_word(snw_reader *r, const snw_node *node, const char *what, int n,
                         const char *const *word, int *out);
// on or off; true or false as in JSON.
snw_status snw_read_switch(snw_reader *r, const snw_node *node, const char *what, bool *out);

snw_status snw_read_law(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                        int vars, snw_law *out);
// Read a condition on t and probes. snw_read_when reads the `when` of a load, effort or active
// stress; it becomes a condition signal if it reads probes.
snw_status snw_read_condition(snw_reader *r, const snw_node *node, const char *what, snw_law *out);
snw_status snw_read_when(snw_reader *r, const snw_node *node, const char *what, snw_law *out);
// Read the `when` of a conditional element (link, loop, drive, contact, fluid); it becomes a
// condition signal unless it is constant.
snw_status snw_read_active_when(snw_reader *r, const snw_node *node, const char *what,
                                snw_law *out);
// Set *law to the conjunction of *law and `other`, both from snw_read_active_when or NULL: always.
snw_status snw_read_both(snw_reader *r, snw_source_location at, snw_law other, snw_law *law);
// Condition under which the link of a site is active; NULL: always.
snw_law snw_site_when(const snw_desc *d, const snw_site *site);
// Replace the condition *law by a law that reads its condition signal.
snw_status snw_read_condition_signal(snw_reader *r, snw_source_location at, const char *text,
                                     snw_law *law);
// n signals that store values sampled when the condition becomes true; *first <- 1 + index of the
// first.
snw_status snw_read_captured(snw_reader *r, snw_source_location at, const char *name, int n,
                             snw_law condition, int *first);
// Constants: expressions that depend on a variable or are not finite are refused.
snw_status snw_read_constant(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                             double *out);
snw_status snw_read_positive(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                             double *out);
snw_status snw_read_nonnegative(snw_reader *r, const snw_entry *e, snw_dim dim, double *out);
snw_status snw_read_integer(snw_reader *r, const snw_node *node, const char *what, int min, int max,
                            int *out);
// Station as a law of t, from the text at `skip` in the node; NULL when it does not depend on t.
snw_status snw_read_sliding_station(snw_reader *r, const snw_node *node, const char *text,
                                    size_t skip, snw_law *out);
// Constant from a part of a scalar's text, which begins `skip` characters in. `L` may be used and
// is the length of the rod unless that is NaN.
snw_status snw_read_constant_in(snw_reader *r, const snw_node *node, const char *text, size_t skip,
                                const char *what, snw_dim dim, double L, double *out);

snw_status snw_read_list(snw_reader *r, const snw_node *node, const char *what, int n);
snw_status snw_read_laws(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                         int vars, snw_law out[3]);
snw_status snw_read_vec3(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                         snw_vec3 *out);
snw_status snw_read_direction(snw_reader *r, const snw_node *node, const char *what,
                              snw_vec3 *out); // normalised
// Six numbers as a list, by component, or 0, with angular and linear dimension. Components that are
// not given keep their value in out.
snw_status snw_read_components(snw_reader *r, const snw_node *node, const char *what,
                               snw_dim angular, snw_dim linear, int vars, snw_law out[6]);

// True if the law is constant; *value is then its value.
bool snw_law_constant(snw_law law, double *value);

// ---- names --------------------------------------------------------------------------------------

// Index of a thing of one kind by name; the failure names the other kind if there is a thing of
// that name.
snw_status snw_find_thing(snw_reader *r, const snw_node *node, const char *name, snw_thing kind,
                          int *index);
// A rod by name, as index of its link; the node is a scalar.
snw_status snw_read_rod_name(snw_reader *r, const snw_node *node, const char *what, int *link);
// The columns of a probe that a text denotes: `tip`, `tip.x` or `wire@12.mx`.
typedef struct snw_probe_part {
    int probe, station; // station -1: the probe has none
    int first, count;   // components
    snw_component component[SNW_PROBE_WIDTH];
} snw_probe_part;
// Name of a column of a probe, in the form of snw_column_name.
const char *snw_probe_column(snw_reader *r, const snw_probe_part *part, int k);
// nvalue: number of values, which may select the components; 0: not known.
snw_status snw_find_columns(snw_reader *r, const snw_node *node, const char *text, int nvalue,
                            snw_probe_part *out);
snw_status snw_find_probe(snw_reader *r, snw_source_location location, const char *name,
                          int *index);
// Add the name of a thing, which must be new.
snw_status snw_add_thing(snw_reader *r, const char *name, snw_source_location location,
                         snw_thing kind, int index);
// Check a name: letters, digits and _, beginning with a letter, optionally an index in parentheses;
// not the name of a parameter.
snw_status snw_check_name(snw_reader *r, const char *name, snw_source_location location);
// The same of things that expressions do not name: words may be joined by - / and dots.
snw_status snw_check_thing_name(snw_reader *r, const char *name, snw_source_location location);
// Length of the name of a thing at the beginning of a path such as `arm.tip` or `arm@50%`.
size_t snw_thing_stem(const snw_reader *r, const char *text);
