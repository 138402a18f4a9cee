// SPDX-License-Identifier: MIT
//
// read.h: what the readers of a document's parts share: from the tree of one run to its
// description. Private to io/. Every reader takes the node to read, says what it is by its key
// (`what`, for messages), and fails at the place of the fault.
#pragma once

#include "language/document.h"
#include "language/language.h"
#include "language/names.h"
#include "language/tree.h"

// What a name of the file may be: things share one space, so that overrides are unambiguous.
typedef enum snw_thing {
    SNW_THING_MATERIAL,
    SNW_THING_LINK,
    SNW_THING_SITE,
    SNW_THING_LOOP,
    SNW_THING_LOAD,
    SNW_THING_ACTUATOR,
    SNW_THING_FLUID,
    SNW_THING_CONTACT,
    SNW_THING_STEP
} snw_thing;

typedef struct snw_reader {
    snw_pool *pool; // of the description
    snw_desc *desc; // filled part by part
    const snw_node *root;
    snw_error *err;
    const snw_source *source; // the tree is of run `run` of this

    snw_names things;            // index: in the list of its kind
    snw_material_desc *material; // by index
    const snw_entry **site_entry;
    snw_site *site;   // named sites, by index
    char *site_state; // 0 unread, 1 being read, 2 read
    bool sweeps;      // stations may be laws of t just now
    bool weightless;  // no gravity and no motion: masses do not matter

    snw_names probes;
    snw_signals *signals;
    double *step_end;       // time at the end of each step
    double t_first, t_last; // covered by the study

    int nrun; // names of all runs, and which one this is
    const char *const *run_name;
    int run;
    int nexpect; // expectations that apply to this run
    const snw_expect *expect;
} snw_reader;

// ---- parts, in the order in which they are read -------------------------------------------------

// The robot, what acts on it and what looks at it: all up to the probes.
snw_status snw_read_model(snw_reader *r);

snw_status snw_read_names(snw_reader *r);     // of things: valid, unique
snw_status snw_read_materials(snw_reader *r); // needs names
snw_status snw_read_robot(snw_reader *r);     // needs materials
snw_status snw_read_loops(snw_reader *r);     // these need the robot
snw_status snw_read_loads(snw_reader *r);
snw_status snw_read_actuators(snw_reader *r);
snw_status snw_read_fluids(snw_reader *r);
snw_status snw_read_contacts(snw_reader *r);
snw_status snw_read_initial(snw_reader *r);
snw_status snw_read_probes(snw_reader *r);
snw_status snw_read_holds(snw_reader *r); // of actuators, needs probes
snw_status snw_read_study(snw_reader *r);
snw_status snw_read_record(snw_reader *r);  // needs probes
snw_status snw_read_expects(snw_reader *r); // needs probes, study and record
snw_status snw_read_live(snw_reader *r);    // needs actuators
snw_status snw_read_changes(snw_reader *r); // needs all the others
// The overrides of a study's changes before step `until`, then those of `set`, "path=value".
// Fill the overrides of the description, which the results keep; after all else is read.
snw_status snw_read_run_overrides(snw_reader *r);
snw_status snw_read_overrides(const snw_source *source, int run, int until, int nset,
                              const char *const *set, snw_pool *pool, int *n, const snw_entry **out,
                              snw_error *err);
// Has b the coordinates, loads, actuators, probes and signals of a?
snw_status snw_check_change(const snw_desc *a, const snw_desc *b, snw_error *err);
// Give every description of the study the signals that its laws read, once all are read.
snw_status snw_read_signals(snw_reader *r);
// The quantity of a probe as it is written; false when it has none.
bool snw_probe_kind_written(const snw_node *probe, snw_probe_kind *kind);

// Steps of the study, step `index` of it: their keys.
snw_status snw_read_kinematic(snw_reader *r, const snw_node *node, int index, snw_step_desc *out);
// Which engine a step takes, and what `shooting` says to it; either entry may be NULL.
snw_status snw_read_engine(snw_reader *r, const snw_entry *engine, const snw_entry *shooting,
                           snw_step_desc *out);
snw_status snw_read_dynamic(snw_reader *r, const snw_node *node, int index, snw_step_desc *out);
snw_status snw_read_change(snw_reader *r, const snw_node *node, snw_step_desc *out);
bool snw_study_moves(const snw_node *study); // has it a dynamic step?
// An earlier step by name, where step `index` starts from.
snw_status snw_read_from(snw_reader *r, const snw_node *node, int index, int *out);
// Between 0 and 1.
snw_status snw_read_tolerance(snw_reader *r, const snw_node *node, double *out);
// A step within a duration, few enough of them.
snw_status snw_check_step(snw_reader *r, const snw_node *node, double duration, double step);

snw_status snw_read_rod(snw_reader *r, const snw_node *node, const char *link, snw_rod_desc *out);
// Strain components and bases; `elements` and `breaks` are the rod's keys, NULL when not given.
snw_status snw_read_strain(snw_reader *r, const snw_node *node, const snw_entry *elements,
                           const snw_entry *breaks, snw_rod_desc *out);
// The joint of a link, with the keys beside it; NULL where one is not given.
typedef struct snw_joint_keys {
    const snw_entry *joint, *axis, *axes, *pitch, *stiffness, *damping, *friction, *creep, *rest,
        *limits;
} snw_joint_keys;
snw_status snw_read_joint(snw_reader *r, const snw_joint_keys *keys, snw_link_desc *out);
// A tendon or chamber from the keys of its actuator; NULL where one is not given.
typedef struct snw_tendon_keys {
    const snw_entry *tendon, *chamber, *effort, *shortening, *volume, *gas, *when;
} snw_tendon_keys;
snw_status snw_read_tendon(snw_reader *r, const snw_entry *entry, const snw_tendon_keys *keys,
                           snw_tendon_desc *out);
// Position and rate at the start of a joint that moves and is not free; NULL: zero.
snw_status snw_read_joint_start(snw_reader *r, const snw_node *position, const snw_node *rate,
                                const snw_link_desc *link, snw_initial_desc *out);
snw_status snw_read_body(snw_reader *r, const snw_node *node, snw_body_desc *out);
snw_status snw_read_pose(snw_reader *r, const snw_node *node, snw_pose_desc *out); // laws of t
snw_status snw_read_pose_constant(snw_reader *r, const snw_node *node, snw_se3 *out);

// The links of `on`; whether they are rods, where key `e` of the thing `name` has other units for
// those.
snw_status snw_read_links(snw_reader *r, const snw_node *node, int *nlink, const int **out);
snw_status snw_read_of_rods(snw_reader *r, const snw_entry *e, const char *name, int nlink,
                            const int *link, bool *out);

// A site: `world`, a link, `rod.root`, `rod.tip`, `rod@0.12 m`, `rod@50%`, a named one.
snw_status snw_read_site(snw_reader *r, const snw_node *node, const char *what, snw_site *out);
// The named sites, once the links are known; links still in the order of the file.
snw_status snw_read_sites(snw_reader *r);

// ---- values -------------------------------------------------------------------------------------

snw_status snw_read_memory(snw_reader *r); // the failure for a NULL of the pool

// Where a scalar's text begins, `skip` characters in.
snw_source_location snw_text_place(const snw_node *node, size_t skip);
const snw_scope *snw_read_scope(const snw_reader *r, const snw_node *node);

// entry[i] <- the entry of key i of the table, NULL when the map has none. Refuses what is no map,
// unknown and repeated keys, and keys of other versions.
snw_status snw_read_map(snw_reader *r, const snw_node *node, const snw_key_table *table,
                        const snw_entry **entry);

// Entries of an optional section of named things at the top: 0 when it is missing or empty.
snw_status snw_read_section_of_file(snw_reader *r, const char *key, const snw_node **out, int *n);

snw_status snw_read_text(snw_reader *r, const snw_node *node, const char *what, const char **out);
// The text with indices of repetitions evaluated.
snw_status snw_read_name(snw_reader *r, const snw_node *node, const char *what, const char **out);
// The index of one of n words; `what` is also their place in the table of later versions.
snw_status snw_read_word(snw_reader *r, const snw_node *node, const char *what, int n,
                         const char *const *word, int *out);

snw_status snw_read_law(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                        int vars, snw_law *out);
// A condition on t and probes. As `when` of something that acts it becomes a gate if it reads
// probes.
snw_status snw_read_condition(snw_reader *r, const snw_node *node, const char *what, snw_law *out);
snw_status snw_read_when(snw_reader *r, const snw_node *node, const char *what, snw_law *out);
// As `when` of something that comes and goes it becomes a gate unless it is constant.
snw_status snw_read_active_when(snw_reader *r, const snw_node *node, const char *what,
                                snw_law *out);
// *law <- both it and `other`, conditions of snw_read_active_when or NULL: always.
snw_status snw_read_both(snw_reader *r, snw_source_location at, snw_law other, snw_law *law);
// When the link of a site is there; NULL: always.
snw_law snw_site_when(const snw_desc *d, const snw_site *site);
// *law <- the gate that stands for it.
snw_status snw_read_condition_signal(snw_reader *r, snw_source_location at, const char *text,
                                     snw_law *law);
// n signals for what is met when that gate opens; *first <- 1 + the first of them.
snw_status snw_read_met(snw_reader *r, snw_source_location at, const char *name, int n,
                        snw_law condition, int *first);
// Constants: what depends on a variable is refused, and so is what is not finite.
snw_status snw_read_constant(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                             double *out);
snw_status snw_read_positive(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                             double *out);
snw_status snw_read_whole(snw_reader *r, const snw_node *node, const char *what, int min, int max,
                          int *out);
// The same for a piece of a scalar's text, which begins `skip` characters in; `L` may be used and
// is the rod's length unless that is NaN.
// A station as a law of t, text from `skip` on in the node; NULL when it does not depend on t.
snw_status snw_read_sliding_station(snw_reader *r, const snw_node *node, const char *text,
                                    size_t skip, snw_law *out);
snw_status snw_read_constant_in(snw_reader *r, const snw_node *node, const char *text, size_t skip,
                                const char *what, snw_dim dim, double L, double *out);

snw_status snw_read_list(snw_reader *r, const snw_node *node, const char *what, int n);
snw_status snw_read_laws(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                         int vars, snw_law out[3]);
snw_status snw_read_vec3(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                         snw_vec3 *out);
snw_status snw_read_direction(snw_reader *r, const snw_node *node, const char *what,
                              snw_vec3 *out); // unit length
// Six numbers, by component, or 0: angular and linear dimension. out keeps what is not given.
snw_status snw_read_six(snw_reader *r, const snw_node *node, const char *what, snw_dim angular,
                        snw_dim linear, int vars, snw_law out[6]);

// Value of a law that is a constant.
bool snw_law_constant(snw_law law, double *value);

// ---- names --------------------------------------------------------------------------------------

// A thing of one kind by name, or a failure that says what is there instead.
snw_status snw_find_thing(snw_reader *r, const snw_node *node, const char *name, snw_thing kind,
                          int *index);
// A rod by name, as index of its link; its node is a scalar.
snw_status snw_read_rod_name(snw_reader *r, const snw_node *node, const char *what, int *link);
snw_status snw_find_probe(snw_reader *r, snw_source_location location, const char *name,
                          int *index);
// Letters, digits and _, beginning with a letter, an index in parentheses allowed; no parameter.
snw_status snw_check_name(snw_reader *r, const char *name, snw_source_location location);
