// SPDX-License-Identifier: MIT
//
// VTK XML writer: polygon data (.vtp) with base64 arrays, and the collection (.pvd) with the time
// of each file.
#include "base/fail.h"
#include "output/base64.h"
#include "output/export_parts.h"

#include <string.h>

// ---- a file of lines or triangles --------------------------------------------------------------

// Point data: name, names of its components (ending in NULL), values.
typedef struct field {
    const char *name;
    const char *component[4];
    int width;
    const double *value;
} field;

enum { MOST_FIELDS = 12 };

typedef struct poly {
    int npoint, ncorner, ncell;
    double *at;  // 3 each
    int *corner; // point indices of all cells, concatenated
    int *end;    // of each cell: index after its last corner
    int *link;   // of each cell: index into `name`
    bool lines;  // else polygons
    int nfield, nname;
    field field[MOST_FIELDS];
    const char **name;
} poly;

static void put_floats(snw_xml *x, const char *name, int width, int n, const double *value,
                       const char *const *component) {
    snw_xml_print(x, "<DataArray type=\"Float32\" Name=\"%s\" NumberOfComponents=\"%d\"", name,
                  width);
    for (int i = 0; component && i < width && component[i]; i++) {
        snw_xml_print(x, " ComponentName%d=\"%s\"", i, component[i]);
    }
    snw_xml_print(x, " format=\"binary\">");
    snw_base64 e;
    const size_t count = (size_t)n * (size_t)width;
    snw_base64_begin(&e, (snw_sink){x, snw_xml_bytes});
    snw_base64_bits(&e, 4 * count, 4);
    for (size_t i = 0; i < count; i++) snw_base64_float(&e, value[i]);
    (void)snw_base64_end(&e);
    snw_xml_print(x, "</DataArray>\n");
}

static void put_integers(snw_xml *x, const char *name, int n, const int *value) {
    snw_xml_print(x, "<DataArray type=\"Int32\" Name=\"%s\" format=\"binary\">", name);
    snw_base64 e;
    snw_base64_begin(&e, (snw_sink){x, snw_xml_bytes});
    snw_base64_bits(&e, 4 * (size_t)n, 4);
    for (int i = 0; i < n; i++) snw_base64_bits(&e, (uint64_t)value[i], 4);
    (void)snw_base64_end(&e);
    snw_xml_print(x, "</DataArray>\n");
}

// Names that the indices `link` refer to, and the time. VTK writes a string as its byte values with
// a final zero.
static void put_names(snw_xml *x, double t, int n, const char *const *name) {
    snw_xml_print(x,
                  "<FieldData>\n<DataArray type=\"String\" Name=\"links\" NumberOfTuples=\"%d\" "
                  "format=\"ascii\">",
                  n);
    for (int i = 0; i < n; i++) {
        for (const char *c = name[i]; *c; c++) snw_xml_print(x, "%d ", (unsigned char)*c);
        snw_xml_print(x, "0 ");
    }
    char text[SNW_NUMBER_SIZE];
    snw_number_text(t, text);
    snw_xml_print(
        x,
        "</DataArray>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
        "format=\"ascii\">%s</DataArray>\n</FieldData>\n",
        text);
}

static void put_poly(snw_xml *x, double t, const poly *p) {
    static const char *const kinds[] = {"Lines", "Polys"};
    snw_xml_print(x, "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"0.1\" "
                     "byte_order=\"LittleEndian\">\n<PolyData>\n");
    put_names(x, t, p->nname, p->name);
    snw_xml_print(x,
                  "<Piece NumberOfPoints=\"%d\" NumberOfVerts=\"0\" NumberOfLines=\"%d\" "
                  "NumberOfStrips=\"0\" NumberOfPolys=\"%d\">\n",
                  p->npoint, p->lines ? p->ncell : 0, p->lines ? 0 : p->ncell);
    snw_xml_print(x, "<PointData>\n");
    for (int i = 0; i < p->nfield; i++) {
        const field *f = &p->field[i];
        put_floats(x, f->name, f->width, p->npoint, f->value, f->component);
    }
    snw_xml_print(x, "</PointData>\n<CellData>\n");
    put_integers(x, "link", p->ncell, p->link);
    snw_xml_print(x, "</CellData>\n<Points>\n");
    put_floats(x, "Points", 3, p->npoint, p->at, NULL);
    snw_xml_print(x, "</Points>\n<%s>\n", kinds[!p->lines]);
    put_integers(x, "connectivity", p->ncorner, p->corner);
    put_integers(x, "offsets", p->ncell, p->end);
    snw_xml_print(x, "</%s>\n</Piece>\n</PolyData>\n</VTKFile>\n", kinds[!p->lines]);
}

// Allocate arrays for npoint points, ncorner corners and ncell cells.
static snw_status alloc_poly(snw_pool *pool, int npoint, int ncorner, int ncell, int nname, poly *p,
                             snw_error *err) {
    p->at = snw_pool_array(pool, 3 * (size_t)npoint, sizeof *p->at);
    p->corner = snw_pool_array(pool, (size_t)ncorner, sizeof *p->corner);
    p->end = snw_pool_array(pool, (size_t)ncell, sizeof *p->end);
    p->link = snw_pool_array(pool, (size_t)ncell, sizeof *p->link);
    p->name = snw_pool_array(pool, (size_t)nname, sizeof *p->name);
    return p->at && p->corner && p->end && p->link && p->name ? SNW_OK
                                                              : snw_export_fail_memory(err);
}

// *out <- values of a new field, NaN, to be filled by the caller
static snw_status export_vtk_add_field(snw_pool *pool, poly *p, int npoint, field f, double **out,
                                       snw_error *err) {
    const size_t n = (size_t)npoint * (size_t)f.width;
    SNW_ASSERT(p->nfield < MOST_FIELDS);
    *out = snw_pool_array(pool, n, sizeof **out);
    if (!*out) return snw_export_fail_memory(err);
    for (size_t i = 0; i < n; i++) (*out)[i] = NAN;
    f.value = *out;
    p->field[p->nfield++] = f;
    return SNW_OK;
}

static int export_vtk_put_point(poly *p, snw_vec3 at) {
    memcpy(p->at + 3 * (size_t)p->npoint, at.e, sizeof at.e);
    return p->npoint++;
}

static void end_cell(poly *p, int link) {
    p->link[p->ncell] = link;
    p->end[p->ncell++] = p->ncorner;
}

// ---- rods --------------------------------------------------------------------------------------

// *out <- section states at the rings of all rods in a frame, rod after rod
static snw_status section_states(const snw_export *e, int frame, snw_pool *pool,
                                 snw_section_state **out, snw_error *err) {
    size_t n = 0, most = 0, at = 0;
    for (int i = 0; i < e->geometry.nrod; i++) {
        const size_t stations = (size_t)e->geometry.rod[i].count + 1;
        n += (size_t)e->trace[i].n;
        most = stations > most ? stations : most;
    }
    snw_section_state *station = snw_pool_array(pool, most, sizeof *station);
    *out = snw_pool_array(pool, n, sizeof **out);
    if (!station || !*out) return snw_export_fail_memory(err);
    for (int i = 0; i < e->geometry.nrod; i++) {
        if (e->trace[i].npiece > 0) snw_export_section_states(e, frame, i, station, *out + at);
        at += (size_t)e->trace[i].n;
    }
    return SNW_OK;
}

static double width_at(const snw_scene_rod *rod, const snw_trace *t, int k, int side) {
    const int a = t->station[k], b = a < rod->count ? a + 1 : a;
    return (1 - t->fraction[k]) * rod->half[a][side] + t->fraction[k] * rod->half[b][side];
}

static snw_status make_rods(const snw_export *e, int frame, snw_pool *pool, poly *p,
                            snw_error *err) {
    int n = 0;
    for (int i = 0; i < e->geometry.nrod; i++) n += e->trace[i].n;
    snw_section_state *state;
    const snw_scene_geometry *geometry = snw_export_geometry(e, frame);
    double *radius, *normal, *turn, *shift, *moment, *force, *largest, *stress;
    const struct {
        field f;
        double **to;
    } fields[] = {
        {{.name = "radius", .width = 1}, &radius},
        {{.name = "normal", .width = 3}, &normal},
        {{.name = "curvature", .component = {"twist", "bend_y", "bend_z"}, .width = 3}, &turn},
        {{.name = "strain", .component = {"stretch", "shear_y", "shear_z"}, .width = 3}, &shift},
        {{.name = "moment", .component = {"twist", "bend_y", "bend_z"}, .width = 3}, &moment},
        {{.name = "force", .component = {"tension", "shear_y", "shear_z"}, .width = 3}, &force},
        {{.name = "largest_strain", .width = 1}, &largest},
        {{.name = "stress", .width = 1}, &stress}};
    SNW_TRY(alloc_poly(pool, n, n, e->geometry.nrod, e->geometry.nrod, p, err));
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        SNW_TRY(export_vtk_add_field(pool, p, n, fields[i].f, fields[i].to, err));
    }
    SNW_TRY(section_states(e, frame, pool, &state, err));
    p->lines = true;
    for (int i = 0; i < e->geometry.nrod; i++) {
        const snw_trace *t = &e->trace[i];
        p->name[p->nname++] = e->geometry.rod[i].link;
        if (t->n < 2 || !snw_export_is_active(e, frame, geometry->rod[i].condition)) {
            state += t->n;
            continue;
        }
        for (int k = 0; k < t->n; k++, state++) {
            const snw_se3 g = snw_export_pose(e, frame, t->track[k]);
            const size_t at = (size_t)p->npoint;
            radius[at] =
                fmax(width_at(&geometry->rod[i], t, k, 0), width_at(&geometry->rod[i], t, k, 1));
            for (size_t c = 0; c < 3; c++) {
                normal[3 * at + c] = g.R.e[c][0];
                turn[3 * at + c] = state->strain[c];
                shift[3 * at + c] = state->strain[3 + c];
                moment[3 * at + c] = state->force[c];
                force[3 * at + c] = state->force[3 + c];
            }
            largest[at] = state->normal;
            stress[at] = state->stress;
            p->corner[p->ncorner++] = export_vtk_put_point(p, g.p);
        }
        end_cell(p, i);
    }
    return SNW_OK;
}

// ---- surfaces ----------------------------------------------------------------------------------

static bool is_surface(const snw_mesh *m) {
    return m->paint != SNW_PAINT_TENDON && m->paint != SNW_PAINT_CHAMBER;
}

static snw_status make_surface(const snw_export *e, int frame, snw_pool *pool, poly *p,
                               snw_error *err) {
    int npoint = 0, ncorner = 0;
    for (int i = 0; i < e->nmesh; i++) {
        npoint += e->mesh[i].nvertex;
        ncorner += e->mesh[i].nindex;
    }
    snw_section_state *state;
    double *normal, *largest, *stress;
    SNW_TRY(alloc_poly(pool, npoint, ncorner, ncorner / 3, e->nmesh, p, err));
    SNW_TRY(export_vtk_add_field(pool, p, npoint, (field){.name = "Normals", .width = 3}, &normal,
                                 err));
    SNW_TRY(export_vtk_add_field(pool, p, npoint, (field){.name = "largest_strain", .width = 1},
                                 &largest, err));
    SNW_TRY(
        export_vtk_add_field(pool, p, npoint, (field){.name = "stress", .width = 1}, &stress, err));
    SNW_TRY(section_states(e, frame, pool, &state, err));
    for (int i = 0; i < e->nmesh; i++) {
        const snw_mesh *m = &e->mesh[i];
        p->name[p->nname++] = m->name;
        if (!is_surface(m) || !snw_export_is_visible(e, frame, m)) continue;
        const int first = p->npoint;
        const snw_section_state *own = state;
        for (int r = 0; r < m->rod; r++) own += e->trace[r].n;
        for (int v = 0; v < m->nvertex; v++) {
            const snw_se3 g = snw_export_pose(e, frame, m->track[v]);
            const snw_vec3 n = snw_rotate(g.R, m->normal[v]);
            const size_t at = (size_t)export_vtk_put_point(p, snw_se3_point(g, m->at[v]));
            memcpy(normal + 3 * at, n.e, sizeof n.e);
            if (!m->ring) continue;
            largest[at] = own[m->ring[v]].normal;
            stress[at] = own[m->ring[v]].stress;
        }
        for (int c = 0; c < m->nindex; c++) {
            p->corner[p->ncorner++] = first + m->index[c];
            if (c % 3 == 2) end_cell(p, i);
        }
    }
    return SNW_OK;
}

// ---- tendons and chambers ----------------------------------------------------------------------

static snw_status make_tendons(const snw_export *e, int frame, snw_pool *pool, poly *p,
                               snw_error *err) {
    const snw_scene_geometry *geometry = snw_export_geometry(e, frame);
    int n = 0;
    for (int i = 0; i < geometry->ntendon; i++) n += geometry->tendon[i].n;
    double *radius, *tension, *pressure;
    SNW_TRY(alloc_poly(pool, n, n, e->geometry.ntendon, e->geometry.ntendon, p, err));
    SNW_TRY(export_vtk_add_field(pool, p, n, (field){.name = "radius", .width = 1}, &radius, err));
    SNW_TRY(
        export_vtk_add_field(pool, p, n, (field){.name = "tension", .width = 1}, &tension, err));
    SNW_TRY(
        export_vtk_add_field(pool, p, n, (field){.name = "pressure", .width = 1}, &pressure, err));
    p->lines = true;
    for (int i = 0; i < e->geometry.ntendon; i++) {
        const snw_scene_tendon *m = &geometry->tendon[i];
        p->name[p->nname++] = m->name;
        if (m->n < 2) continue;
        for (int k = 0; k < m->n; k++) {
            const snw_se3 g = snw_export_node(e, frame, m->point[k].node);
            const int at = export_vtk_put_point(p, snw_se3_point(g, m->point[k].at));
            radius[at] = m->point[k].radius;
            *(m->tension ? &tension[at] : &pressure[at]) =
                e->effort[(size_t)frame * (size_t)e->info->ntendon + (size_t)i];
            p->corner[p->ncorner++] = at;
        }
        end_cell(p, i);
    }
    return SNW_OK;
}

// ---- files -------------------------------------------------------------------------------------

const char *snw_vtk_part_name(snw_vtk_part part) {
    static const char *const name[] = {
#define X(id, text) text,
        SNW_VTK_PARTS(X)
#undef X
    };
    return name[part];
}

bool snw_vtk_has(const snw_export *e, snw_vtk_part part) {
    switch (part) {
    case SNW_VTK_RODS:
        return e->geometry.nrod > 0;
    case SNW_VTK_SURFACE:
        return e->nmesh > 0;
    case SNW_VTK_TENDONS:
        return e->geometry.ntendon > 0;
    case SNW_VTK_NPART:
        break;
    }
    return false;
}

void snw_vtk_name(snw_vtk_part part, int frame, char *out, size_t size) {
    (void)snprintf(out, size, "%s_%05d.vtp", snw_vtk_part_name(part), frame);
}

static snw_status make_part(const snw_export *e, snw_vtk_part part, int frame, snw_pool *pool,
                            poly *p, snw_error *err) {
    switch (part) {
    case SNW_VTK_RODS:
        return make_rods(e, frame, pool, p, err);
    case SNW_VTK_SURFACE:
        return make_surface(e, frame, pool, p, err);
    case SNW_VTK_TENDONS:
        return make_tendons(e, frame, pool, p, err);
    case SNW_VTK_NPART:
        break;
    }
    return SNW_OK;
}

snw_status snw_export_vtk(snw_export *e, snw_vtk_part part, int frame, snw_sink sink,
                          snw_error *err) {
    const size_t limit = (size_t)1 << 30;
    snw_xml x = {.sink = sink};
    poly p = {0};
    snw_pool *pool = snw_pool_create(limit);
    snw_status s = pool ? make_part(e, part, frame, pool, &p, err) : snw_export_fail_memory(err);
    if (s == SNW_OK) {
        put_poly(&x, e->t[frame], &p);
        if (x.failed) s = snw_export_fail_sink(err);
    }
    snw_pool_destroy(pool);
    return s;
}

snw_status snw_export_pvd(const snw_export *e, const char *folder, snw_sink sink, snw_error *err) {
    snw_xml x = {.sink = sink};
    double *clock = snw_pool_array(e->pool, (size_t)e->n, sizeof *clock);
    if (!clock) return snw_export_fail_memory(err);
    // files of equal times would be shown together
    snw_export_playback_times(e, 1e-6, 1, clock);
    snw_xml_print(&x, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
                      "byte_order=\"LittleEndian\">\n<Collection>\n");
    for (int k = 0; k < e->n; k++) {
        for (int part = 0, block = 0; part < SNW_VTK_NPART; part++) {
            if (!snw_vtk_has(e, (snw_vtk_part)part)) continue;
            char name[64], t[SNW_NUMBER_SIZE];
            snw_vtk_name((snw_vtk_part)part, k, name, sizeof name);
            snw_number_text(e->t[0] + clock[k], t);
            snw_xml_print(&x, "<DataSet timestep=\"%s\" part=\"%d\" name=\"%s\" file=\"", t,
                          block++, snw_vtk_part_name((snw_vtk_part)part));
            snw_xml_escaped(&x, folder);
            snw_xml_print(&x, "/%s\"/>\n", name);
        }
    }
    snw_xml_print(&x, "</Collection>\n</VTKFile>\n");
    return x.failed ? snw_export_fail_sink(err) : SNW_OK;
}
