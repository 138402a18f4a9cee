// SPDX-License-Identifier: MIT
#include "output/plot.h"
#include "output/plot_svg.h"

#include "near.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- ticks and units ---------------------------------------------------------------------------

static void assert_texts(snw_ticks k, const char *expected) {
    char all[256] = "";
    for (int i = 0; i < k.n; i++) {
        char text[SNW_TICK_SIZE];
        snw_tick_text(&k, i, text);
        (void)strncat(all, i ? " " : "", sizeof all - strlen(all) - 1);
        (void)strncat(all, text, sizeof all - strlen(all) - 1);
    }
    assert_string_equal(all, expected);
}

static void assert_ticks(double lo, double hi, int most, const char *expected) {
    assert_texts(snw_ticks_make(lo, hi, most), expected);
}

// logarithmic axes: between 10^lo and 10^hi
static void ticks_of_logarithms_are_powers_of_ten_and_parts_of_decades(void **state) {
    (void)state;
    assert_texts(snw_ticks_log(0, 1, 9), "1 2 5 10");
    assert_texts(snw_ticks_log(-2.4, -0.9, 9), "0.005 0.01 0.02 0.05 0.1");
    assert_texts(snw_ticks_log(-5.05, 0.1, 9), "10⁻⁵ 10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 10⁰");
    assert_texts(snw_ticks_log(-12.5, 0.5, 4), "10⁻¹⁰ 10⁻⁵ 10⁰");
    assert_texts(snw_ticks_log(-6.8, -6.2, 9), "2·10⁻⁷ 5·10⁻⁷");
    assert_texts(snw_ticks_log(log10(15), log10(80), 2), "20 50");
    const snw_ticks k = snw_ticks_log(0, 1, 9);
    for (int i = 0; i < k.n; i++) {
        assert_near(snw_tick_value(&k, i), log10((const double[]){1, 2, 5, 10}[i]), 1e-15);
    }
}

static void ticks_are_one_two_or_five_times_a_power_of_ten(void **state) {
    (void)state;
    assert_ticks(0, 1, 6, "0.0 0.2 0.4 0.6 0.8 1.0");
    assert_ticks(0, 1, 5, "0.0 0.5 1.0");
    assert_ticks(0, 1, 11, "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0");
    assert_ticks(-0.31, 0.29, 4, "\u22120.2 0.0 0.2");
    assert_ticks(123, 987, 5, "200 400 600 800");
    assert_ticks(-3e-5, -1e-5, 3, "\u22120.00003 \u22120.00002 \u22120.00001");
    assert_ticks(9.999, 10.001, 3, "9.999 10.000 10.001");
}

static void ticks_stay_inside_and_few_whatever_the_range(void **state) {
    (void)state;
    srand(1);
    for (int i = 0; i < 20000; i++) {
        const double centre = (rand() / (double)RAND_MAX - 0.5) * pow(10, rand() % 9 - 4);
        const double span = pow(10, rand() % 9 - 4) * (1 + rand() / (double)RAND_MAX);
        const int most = 2 + rand() % 10;
        const snw_ticks k = snw_ticks_make(centre, centre + span, most);
        const double leading = k.step / pow(10, floor(log10(k.step) + 1e-9));
        assert_true(fabs(leading - 1) < 1e-9 || fabs(leading - 2) < 1e-9 ||
                    fabs(leading - 5) < 1e-9);
        assert_true(k.n <= most);
        // not coarser than necessary: the next finer step, at least 2/5 of this one, would give too
        // many ticks
        assert_true(span / (0.4 * k.step) + 1 > most);
        for (int n = 0; n < k.n; n++) {
            const double t = snw_tick_value(&k, n);
            const double slack = 1e-8 * k.step + 1e-15 * fabs(centre);
            assert_true(t >= centre - slack && t <= centre + span + slack);
        }
    }
}

static void assert_unit(const char *unit, double largest, double size, const char *shown) {
    const snw_unit_scale s = snw_unit_scale_make(unit, largest);
    assert_string_equal(s.unit, shown);
    assert_near(s.size / size, 1, 1e-12);
}

static void units_get_the_prefix_that_suits(void **state) {
    (void)state;
    assert_unit("m", 1.2, 1, "m");
    assert_unit("m", 0.5, 1, "m");
    assert_unit("m", 0.3, 1e-3, "mm");
    assert_unit("m", 2e-6, 1e-6, "µm");
    assert_unit("m", 3e-9, 1e-9, "nm"); // the smallest prefix
    assert_unit("J", 2e-17, 1e-18, "10⁻¹⁸ J");
    assert_unit("N", 3e12, 1e12, "10¹² N");
    assert_unit("Pa", 8e4, 1e3, "kPa");
    assert_unit("Pa", 3e6, 1e6, "MPa");
    assert_unit("N*m", 0.02, 1e-3, "mN·m");
    assert_unit("m/s^2", 9.81, 1, "m/s²");
    assert_unit("s", 3600, 1, "s"); // seconds have no prefix kilo
    assert_unit("m^3", 3e-6, 1e-6, "cm³");
    assert_unit("1/m", 12, 1, "1/m");
    assert_unit("1/m", 0.002, 1e-3, "10⁻³ 1/m");
    assert_unit("", 3e-9, 1e-9, "10⁻⁹");
    assert_unit("", 0.3, 1, "");
    assert_unit("kg*m^2/s", 2e12, 1e12, "10¹² kg·m²/s");
    assert_unit("N", 0, 1, "N");
    assert_unit("N", NAN, 1, "N");
}

// ---- layout ------------------------------------------------------------------------------------

// a font in which every letter is half as wide as high
static double measure(void *user, const char *text, double size) {
    (void)user;
    return 0.5 * size * (double)strlen(text);
}

static const snw_canvas ruler = {.measure = measure};

static double times[] = {0, 1, 2}, up[] = {0, 0.1, 0.3}, down[] = {0.3, NAN, 0.2999};

static snw_figure two_panels(snw_panel *panel, snw_curve *curve) {
    curve[0] = (snw_curve){.name = "up", .n = 3, .x = times, .y = up};
    curve[1] = (snw_curve){.name = "down", .n = 3, .x = times, .y = down};
    panel[0] = (snw_panel){"position", "m", 2, curve};
    panel[1] = (snw_panel){"force", "N", 1, curve};
    return (snw_figure){.quantity = "time",
                        .unit = "s",
                        .npanel = 2,
                        .panel = panel,
                        .tight = true,
                        .width = 160,
                        .height = 90};
}

static void panels_share_the_time_axis_and_fit_on_the_paper(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create(1 << 20);
    snw_panel panel[2];
    snw_curve curve[2];
    const snw_figure f = two_panels(panel, curve);
    snw_plot_layout l;
    assert_int_equal(snw_plot_lay_out(&f, &ruler, pool, &l, NULL), SNW_OK);
    const snw_box a = l.panel[0].area, b = l.panel[1].area;
    assert_near(a.x, b.x, 1e-12);
    assert_near(a.w, b.w, 1e-12);
    assert_near(a.h, b.h, 1e-12);
    assert_true(b.y > a.y + a.h && b.y + b.h < 90);
    // the longer name, with its line sample, fits to the right of the panels
    assert_true(a.x + a.w + l.sample + measure(NULL, "down", l.font) < 160);
    assert_near(l.x.lo, 0, 0);
    assert_near(l.x.hi, 2, 0);
    assert_string_equal(l.x.title, "time (s)");
    assert_string_equal(l.panel[0].y.title, "position (mm)");
    assert_string_equal(l.panel[1].y.title, "force (mN)");
    assert_near(l.panel[0].y.lo, -15, 1e-9); // a twentieth of 300 mm
    assert_near(l.panel[0].y.hi, 315, 1e-9);
    snw_pool_destroy(pool);
}

static void names_stand_at_the_ends_of_curves_and_apart(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create(1 << 20);
    snw_panel panel[2];
    snw_curve curve[2];
    const snw_figure f = two_panels(panel, curve);
    snw_plot_layout l;
    assert_int_equal(snw_plot_lay_out(&f, &ruler, pool, &l, NULL), SNW_OK);
    // both end at 0.3 m, "down" slightly lower
    const double *label = l.panel[0].label;
    const double end = l.panel[0].area.y + l.panel[0].area.h * (315 - 300) / 330;
    assert_true(label[1] - label[0] >= 1.2 * l.font);
    assert_true(fabs((label[0] + label[1]) / 2 - end) < 1.3 * l.font);
    // alone in its panel a name is placed at the end of its curve
    const snw_box b = l.panel[1].area;
    assert_true(fabs(l.panel[1].label[0] - (b.y + b.h * (315 - 300) / 330)) < l.font / 2);
    snw_pool_destroy(pool);
}

static void shapes_are_not_distorted(void **state) {
    (void)state;
    double x[] = {-1, 2}, y[] = {0, 0.5};
    snw_curve curve = {.n = 2, .x = x, .y = y};
    snw_panel panel = {"z", "m", 1, &curve};
    snw_figure f = {
        .quantity = "x", .unit = "m", .npanel = 1, .panel = &panel, .equal = true, .width = 160};
    const double heights[] = {0, 40, 200};
    for (int i = 0; i < 3; i++) {
        snw_pool *pool = snw_pool_create(1 << 20);
        snw_plot_layout l;
        f.height = heights[i];
        assert_int_equal(snw_plot_lay_out(&f, &ruler, pool, &l, NULL), SNW_OK);
        const snw_plot_panel_layout *p = &l.panel[0];
        assert_near(p->area.w / (l.x.hi - l.x.lo), p->area.h / (p->y.hi - p->y.lo), 1e-9);
        assert_true(l.x.lo < -1 && l.x.hi > 2 && p->y.lo < 0 && p->y.hi > 0.5);
        assert_string_equal(l.x.scale.unit, p->y.scale.unit);
        snw_pool_destroy(pool);
    }
}

static void constants_and_nothing_have_an_axis(void **state) {
    (void)state;
    double x[] = {1}, same[] = {-4}, none[] = {NAN};
    snw_curve curve = {.name = "c", .n = 1, .x = x, .y = same};
    snw_panel panel = {"force", "N", 1, &curve};
    const snw_figure f = {
        .quantity = "time", .unit = "s", .npanel = 1, .panel = &panel, .tight = true, .width = 80};
    snw_pool *pool = snw_pool_create(1 << 20);
    snw_plot_layout l;
    assert_int_equal(snw_plot_lay_out(&f, &ruler, pool, &l, NULL), SNW_OK);
    assert_true(l.panel[0].y.lo < -4 && l.panel[0].y.hi > -4 && l.x.lo < 1 && l.x.hi > 1);
    curve.y = none;
    assert_int_equal(snw_plot_lay_out(&f, &ruler, pool, &l, NULL), SNW_OK);
    assert_true(l.panel[0].y.lo < l.panel[0].y.hi && l.panel[0].y.ticks.n >= 2);
    snw_pool_destroy(pool);
}

static void numbers_beyond_all_bounds_have_no_axis(void **state) {
    (void)state;
    double x[] = {0, 1, 2, 3}, y[] = {1, 2, -1e308, 1e308};
    snw_curve curve = {.n = 4, .x = x, .y = y};
    snw_panel panel = {"force", "N", 1, &curve};
    const snw_figure f = {
        .quantity = "time", .unit = "s", .npanel = 1, .panel = &panel, .tight = true, .width = 80};
    snw_pool *pool = snw_pool_create(1 << 20);
    snw_plot_layout l;
    assert_int_equal(snw_plot_lay_out(&f, &ruler, pool, &l, NULL), SNW_OK);
    assert_near(l.panel[0].y.lo, 0.95, 1e-12);
    assert_near(l.panel[0].y.hi, 2.05, 1e-12);
    snw_pool_destroy(pool);
}

static void counts_have_whole_ticks(void **state) {
    (void)state;
    double x[] = {1, 2, 3}, y[] = {0, 1, 0};
    snw_curve curve = {.n = 3, .x = x, .y = y};
    snw_panel panel = {"force", "N", 1, &curve};
    const snw_figure f = {.quantity = "frame",
                          .unit = "",
                          .npanel = 1,
                          .panel = &panel,
                          .tight = true,
                          .counted = true,
                          .width = 160};
    snw_pool *pool = snw_pool_create(1 << 20);
    snw_plot_layout l;
    assert_int_equal(snw_plot_lay_out(&f, &ruler, pool, &l, NULL), SNW_OK);
    assert_near(l.x.ticks.step, 1, 0);
    assert_int_equal(l.x.ticks.n, 3);
    snw_pool_destroy(pool);
}

static void paper_too_small_is_reported(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create(1 << 20);
    snw_panel panel[2];
    snw_curve curve[2];
    snw_figure f = two_panels(panel, curve);
    snw_plot_layout l;
    snw_error err = {0};
    f.width = f.height = 25;
    assert_int_equal(snw_plot_lay_out(&f, &ruler, pool, &l, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "25 x 25 mm is too small for 2 panels"));
    snw_pool_destroy(pool);
}

// ---- SVG ---------------------------------------------------------------------------------------

static bool append(void *user, const char *bytes, size_t size) {
    (void)strncat(user, bytes, size);
    return true;
}

static void texts_of_files_are_inert_in_svg(void **state) {
    (void)state;
    char out[4096] = "";
    snw_svg svg = {.out.sink = {out, append}};
    const snw_canvas c = snw_svg_canvas(&svg);
    const double at[2] = {1, 2};
    snw_svg_begin(&svg, 80, 60, "<script>");
    c.text(c.user, at, 3, SNW_ALIGN_LEFT, false, "a<b>&\"c\"\x01");
    snw_svg_end(&svg);
    assert_null(strstr(out, "<script"));
    assert_non_null(strstr(out, ">a&lt;b&gt;&amp;&quot;c&quot; </text>"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_of_logarithms_are_powers_of_ten_and_parts_of_decades),
        cmocka_unit_test(ticks_are_one_two_or_five_times_a_power_of_ten),
        cmocka_unit_test(ticks_stay_inside_and_few_whatever_the_range),
        cmocka_unit_test(units_get_the_prefix_that_suits),
        cmocka_unit_test(panels_share_the_time_axis_and_fit_on_the_paper),
        cmocka_unit_test(names_stand_at_the_ends_of_curves_and_apart),
        cmocka_unit_test(shapes_are_not_distorted),
        cmocka_unit_test(constants_and_nothing_have_an_axis),
        cmocka_unit_test(numbers_beyond_all_bounds_have_no_axis),
        cmocka_unit_test(counts_have_whole_ticks),
        cmocka_unit_test(paper_too_small_is_reported),
        cmocka_unit_test(texts_of_files_are_inert_in_svg),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
