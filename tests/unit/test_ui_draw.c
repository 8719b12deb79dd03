/* SPDX-License-Identifier: MIT */
/* The draw list, text placement and layout: everything below the widgets. */
#include "test_ui_rig.h"

static struct draw_list list, other;
static const struct draw_rect box = {10, 10, 100, 50};

static void assert_rect(struct draw_rect r, float x, float y, float w, float h)
{
    assert_float_equal(r.x, x, 0);
    assert_float_equal(r.y, y, 0);
    assert_float_equal(r.w, w, 0);
    assert_float_equal(r.h, h, 0);
}

/* --- Clipping ---- */

static void clips_intersect_and_come_back(void **state)
{
    (void)state;
    draw_begin(&list, 200, 100, 0);
    assert_rect(draw_clip_current(&list), 0, 0, 200, 100);
    draw_region_begin(&list, (struct draw_rect){0, 0, 150, 300});
    draw_clip_push(&list, box);
    draw_clip_push(&list, (struct draw_rect){50, 0, 500, 30});
    draw_fill(&list, (struct draw_rect){0, 0, 200, 100}, 0, 0xFF);
    assert_rect(list.cmds[0].clip, 50, 10, 60, 20);
    draw_clip_pop(&list);
    assert_rect(draw_clip_current(&list), 10, 10, 100, 50);
    draw_clip_pop(&list);
    assert_rect(draw_clip_current(&list), 0, 0, 150, 100);
    assert_int_equal(list.dropped, 0);
}

static void clips_too_deep_stay_paired(void **state)
{
    (void)state;
    draw_begin(&list, 200, 100, 0);
    for (int i = 0; i < DRAW_MAX_CLIPS + 5; i++)
        draw_clip_push(&list, box);
    assert_int_equal(list.dropped, 5);
    for (int i = 0; i < DRAW_MAX_CLIPS + 5; i++)
        draw_clip_pop(&list);
    assert_rect(draw_clip_current(&list), 0, 0, 200, 100);
    draw_clip_pop(&list);
    assert_int_equal(list.clip_count, 0);
    assert_int_equal(list.dropped, 6);
}

static void what_cannot_be_seen_is_left_out(void **state)
{
    (void)state;
    const float nan = NAN;
    draw_begin(&list, 200, 100, 0);
    draw_fill(&list, (struct draw_rect){300, 0, 10, 10}, 0, 0xFF);
    draw_fill(&list, (struct draw_rect){0, 0, 10, 0}, 0, 0xFF);
    draw_fill(&list, (struct draw_rect){0, 0, -10, 10}, 0, 0xFF);
    draw_fill(&list, box, 0, 0xFFFFFF00);
    draw_fill(&list, (struct draw_rect){nan, 0, 10, 10}, 0, 0xFF);
    draw_disc(&list, -20, 5, 4, 0xFF);
    draw_line(&list, 0, 120, 200, 120, 2, 0xFF);
    draw_text(&list, 0, 150, DRAW_FONT_REGULAR, 13, 0xFF, "below", 5);
    draw_text(&list, 0, 50, DRAW_FONT_REGULAR, 13, 0xFF, "", 0);
    assert_int_equal(list.cmd_count, 0);
    assert_int_equal(list.dropped, 0);
    /* A level line has no height, and is seen all the same. */
    draw_line(&list, 0, 50, 200, 50, 1, 0xFF);
    draw_disc(&list, -2, 5, 4, 0xFF);
    assert_int_equal(list.cmd_count, 2);
    draw_begin(&list, 0, -5, 0);
    draw_fill(&list, box, 0, 0xFF);
    assert_int_equal(list.cmd_count, 0);
    assert_int_equal(list.height, 0);
    draw_end(&list);
}

/* --- Capacity ---- */

static void overflow_is_counted_not_overrun(void **state)
{
    (void)state;
    draw_begin(&list, 200, 100, 0);
    for (int i = 0; i < DRAW_MAX_CMDS + 7; i++)
        draw_fill(&list, box, 0, 0xFF);
    assert_int_equal(list.cmd_count, DRAW_MAX_CMDS);
    assert_int_equal(list.dropped, 7);

    static char page[DRAW_MAX_TEXT / 2];
    memset(page, 'x', sizeof page);
    draw_begin(&list, 200, 100, 0);
    draw_text(&list, 0, 50, DRAW_FONT_REGULAR, 13, 0xFF, page, sizeof page - 1);
    draw_text(&list, 0, 50, DRAW_FONT_REGULAR, 13, 0xFF, page, sizeof page - 1);
    assert_int_equal(list.text_size, DRAW_MAX_TEXT);
    assert_int_equal(list.dropped, 0);
    list.text_size--; /* one byte free, and a letter needs two */
    draw_text(&list, 0, 50, DRAW_FONT_REGULAR, 13, 0xFF, "y", 1);
    assert_int_equal(list.dropped, 1);
    assert_int_equal(list.cmd_count, 2);
    draw_end(&list);
}

static void surplus_regions_share_the_last(void **state)
{
    (void)state;
    draw_begin(&list, 1000, 1000, 0);
    for (int i = 0; i < DRAW_MAX_REGIONS + 2; i++) {
        draw_region_begin(&list, (struct draw_rect){(float)(i * 10), 0, 10, 10});
        draw_fill(&list, (struct draw_rect){(float)(i * 10), 0, 10, 10}, 0, 0xFF);
    }
    assert_int_equal(list.region_count, DRAW_MAX_REGIONS);
    assert_int_equal(list.dropped, 2);
    assert_int_equal(list.cmd_count, DRAW_MAX_REGIONS + 2);
    assert_rect(list.regions[DRAW_MAX_REGIONS - 1].rect, (DRAW_MAX_REGIONS - 1) * 10, 0, 30, 10);
    draw_end(&list);
}

/* --- Hashes ---- */

/* Two regions: fills and text in the first, pictures in the second. */
struct scene {
    struct draw_rect rect;
    draw_color color, background;
    float radius;
    const char *text, *extra;
    uint64_t picture, weights, matrix, permutation, overview;
    struct draw_heat heat;
    struct draw_matrix cells;
};

static struct scene plain_scene(void)
{
    return (struct scene){.rect = {10, 10, 30, 20},
                          .color = 0xFF,
                          .text = "weight",
                          .picture = 1,
                          .weights = 2,
                          .matrix = 3,
                          .permutation = 4,
                          .overview = 5,
                          .heat = {.u1 = 1, .v1 = 1, .weights = true},
                          .cells = {.x1 = 9, .y1 = 9}};
}

static void draw_scene(const struct scene *scene, uint64_t hashes[2])
{
    draw_begin(&list, 400, 200, scene->background);
    list.sources[DRAW_SLOT_PICTURE].key = scene->picture;
    list.sources[DRAW_SLOT_WEIGHTS].key = scene->weights;
    list.sources[DRAW_SLOT_MATRIX].key = scene->matrix;
    list.sources[DRAW_SLOT_PERMUTATION].key = scene->permutation;
    list.sources[DRAW_SLOT_OVERVIEW].key = scene->overview;
    draw_region_begin(&list, (struct draw_rect){0, 0, 200, 200});
    if (scene->extra)
        draw_text(&list, 0, 500, DRAW_FONT_REGULAR, 13, 0xFF, scene->extra, strlen(scene->extra));
    draw_fill(&list, scene->rect, scene->radius, scene->color);
    draw_text(&list, 20, 50, DRAW_FONT_REGULAR, 13, 0xFF, scene->text, strlen(scene->text));
    draw_region_begin(&list, (struct draw_rect){200, 0, 200, 200});
    draw_heatmap(&list, (struct draw_rect){200, 0, 100, 100}, &scene->heat);
    draw_matrix(&list, (struct draw_rect){300, 0, 100, 100}, &scene->cells);
    draw_end(&list);
    hashes[0] = list.regions[0].hash;
    hashes[1] = list.regions[1].hash;
}

/* Which regions differ from the plain scene's, as bits. */
static int changed(const struct scene *scene)
{
    struct scene plain = plain_scene();
    uint64_t before[2], after[2];
    draw_scene(&plain, before);
    draw_scene(scene, after);
    return (before[0] != after[0]) | (before[1] != after[1]) << 1;
}

static void region_hash_changes_with_what_is_seen(void **state)
{
    (void)state;
    struct scene s = plain_scene();
    assert_int_equal(changed(&s), 0);
#define CHANGE(field, value, regions)                                                              \
    do {                                                                                           \
        s = plain_scene();                                                                         \
        s.field = value;                                                                           \
        assert_int_equal(changed(&s), regions);                                                    \
    } while (0)
    CHANGE(rect.x, 11, 1);
    CHANGE(rect.h, 21, 1);
    CHANGE(color, 0x100000FF, 1);
    CHANGE(radius, 1, 1);
    CHANGE(text, "weighs", 1);
    CHANGE(text, "", 1);
    CHANGE(background, 0xFF, 3);
    CHANGE(picture, 9, 2);
    CHANGE(weights, 9, 2);
    CHANGE(matrix, 9, 2);
    CHANGE(permutation, 9, 2);
    CHANGE(heat.dim, 0.5f, 2);
    CHANGE(heat.scale, DRAW_SCALE_SQRT, 2);
    CHANGE(heat.map, 1, 2);
    CHANGE(cells.low, 1, 2);
    CHANGE(cells.from, 0.5f, 2);
    CHANGE(cells.n, 77, 2);
    CHANGE(cells.to, 0.25f, 2);
    CHANGE(cells.scale, DRAW_SCALE_LOG, 2);
    CHANGE(cells.overview, true, 2);
    /* Not seen: a source that no command shows, text below the window, a signed zero. */
    CHANGE(overview, 9, 0);
    CHANGE(extra, "moves the offsets of the others", 0);
    CHANGE(radius, -0.0f, 0);
#undef CHANGE
}

static void hash_ignores_padding(void **state)
{
    (void)state;
    struct scene a, b;
    uint64_t hash_a[2], hash_b[2];
    /* Both members of the union with different bytes in the holes of the structs. */
    memset(&a, 0x00, sizeof a);
    memset(&b, 0xFF, sizeof b);
    struct scene plain = plain_scene();
#define COPY(field) a.field = b.field = plain.field
    COPY(rect.x), COPY(rect.y), COPY(rect.w), COPY(rect.h), COPY(color), COPY(background);
    COPY(radius), COPY(text), COPY(extra), COPY(picture), COPY(weights), COPY(matrix);
    COPY(permutation), COPY(overview);
    COPY(heat.u0), COPY(heat.v0), COPY(heat.u1), COPY(heat.v1), COPY(heat.cover_u);
    COPY(heat.cover_v), COPY(heat.dim), COPY(heat.saturation), COPY(heat.opacity);
    COPY(heat.low), COPY(heat.high), COPY(heat.map), COPY(heat.scale), COPY(heat.weights);
    COPY(cells.x0), COPY(cells.y0), COPY(cells.x1), COPY(cells.y1), COPY(cells.low);
    COPY(cells.high), COPY(cells.from), COPY(cells.to), COPY(cells.map), COPY(cells.scale);
    COPY(cells.overview), COPY(cells.n);
#undef COPY
    draw_scene(&a, hash_a);
    draw_scene(&b, hash_b);
    assert_true(hash_a[0] == hash_b[0]);
    assert_true(hash_a[1] == hash_b[1]);
}

static void append_puts_pop_ups_last(void **state)
{
    (void)state;
    draw_begin(&list, 400, 200, 0);
    draw_begin(&other, 400, 200, 0);
    draw_region_begin(&list, (struct draw_rect){0, 0, 400, 200});
    draw_text(&list, 20, 50, DRAW_FONT_REGULAR, 13, 0xFF, "panel", 5);
    draw_append(&list, &other);
    assert_int_equal(list.region_count, 1);
    draw_region_begin(&other, box);
    draw_text(&other, 20, 30, DRAW_FONT_REGULAR, 13, 0xFF, "menu", 4);
    draw_append(&list, &other);
    assert_int_equal(list.region_count, 2);
    assert_int_equal(list.cmd_count, 2);
    assert_int_equal(list.cmds[1].region, 1);
    assert_string_equal(list.text + list.cmds[0].text, "panel");
    assert_string_equal(list.text + list.cmds[1].text, "menu");
    assert_rect(list.cmds[1].clip, 10, 10, 100, 50);
}

/* --- Text ---- */

static struct ui_text fake;
static const struct ui_type body = {DRAW_FONT_REGULAR, 13, 0xFF};

static const char *drawn(int i)
{
    assert_true(i < list.cmd_count);
    return list.text + list.cmds[i].text;
}

static void utf8_walks_both_ways(void **state)
{
    (void)state;
    const char text[] = "a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x90\xB1\xFF\xC3";
    const uint32_t codes[] = {'a', 0xE9, 0x4E2D, 0x1F431, 0xFFFD, 0xFFFD};
    const size_t starts[] = {0, 1, 3, 6, 10, 11, 12};
    size_t at = 0, length = sizeof text - 1;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(at, starts[i]);
        assert_int_equal(ui_utf8_next(text, length, &at), codes[i]);
    }
    assert_int_equal(at, length);
    for (int i = 5; i >= 0; i--) {
        at = ui_utf8_previous(text, at);
        assert_int_equal(at, starts[i]);
    }
    assert_int_equal(ui_utf8_previous(text, 0), 0);
    /* Overlong, surrogate, beyond Unicode: never a character. */
    const char *bad[] = {"\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE0\x80\xAF"};
    for (int i = 0; i < 4; i++) {
        at = 0;
        assert_int_equal(ui_utf8_next(bad[i], strlen(bad[i]), &at), 0xFFFD);
        assert_int_equal(at, 1);
    }
}

static void text_is_aligned_on_whole_pixels(void **state)
{
    (void)state;
    struct draw_rect r = {10.3f, 20.4f, 101, 30};
    draw_begin(&list, 400, 200, 0);
    assert_float_equal(ui_text_in(&list, &fake, r, UI_ALIGN_LEFT, body, "12345"), 40, 0);
    ui_text_in(&list, &fake, r, UI_ALIGN_CENTER, body, "12345");
    ui_text_in(&list, &fake, r, UI_ALIGN_RIGHT, body, "12345");
    assert_float_equal(list.cmds[0].rect.x, 10, 0);
    assert_float_equal(list.cmds[1].rect.x, 40, 0);
    assert_float_equal(list.cmds[2].rect.x, 71, 0);
    /* Centre 35.4, ascent 10.4, descent 2.6. */
    assert_float_equal(list.cmds[0].rect.y, 39, 0);
}

static void long_text_ends_in_dots(void **state)
{
    (void)state;
    struct draw_rect r = {0, 0, 60, 30};
    draw_begin(&list, 400, 200, 0);
    ui_text_in(&list, &fake, r, UI_ALIGN_LEFT, body, "1234567");
    assert_int_equal(list.cmd_count, 1);
    assert_string_equal(drawn(0), "1234567");
    float width = ui_text_in(&list, &fake, r, UI_ALIGN_RIGHT, body, "12345678");
    assert_float_equal(width, 56, 0);
    assert_string_equal(drawn(1), "123456");
    assert_string_equal(drawn(2), "\xE2\x80\xA6");
    assert_float_equal(list.cmds[2].rect.x, 48, 0);
    /* Whole characters, no space before the dots, nothing at all in no room. */
    ui_text_in(&list, &fake, (struct draw_rect){0, 0, 44, 30}, UI_ALIGN_LEFT, body,
               "\xE4\xB8\xAD \xE4\xB8\xAD\xE4\xB8\xAD");
    assert_string_equal(drawn(3), "\xE4\xB8\xAD");
    int count = list.cmd_count;
    assert_float_equal(
        ui_text_in(&list, &fake, (struct draw_rect){0, 0, 5, 30}, UI_ALIGN_LEFT, body, "12"), 0, 0);
    assert_int_equal(list.cmd_count, count);
}

static void fit_counts_whole_characters(void **state)
{
    (void)state;
    const char *text = "ab\xE4\xB8\xAD\xC3\xA9z"; /* 8 8 16 8 8 */
    size_t length = strlen(text);
    const size_t expected[] = {0, 0, 1, 2, 2, 5, 7, 8, 8};
    const float widths[] = {-1, 7, 8, 16, 31, 32, 40, 48, 500};
    for (int i = 0; i < 9; i++)
        assert_int_equal(ui_text_fit(&fake, body, text, length, widths[i]), expected[i]);
    assert_int_equal(ui_text_fit(&fake, body, "", 0, -1), 0);
    assert_int_equal(ui_text_fit(&fake, body, "\xFF\xFF\xFF", 3, 40), 2);
}

static void subscripts_are_small_and_low(void **state)
{
    (void)state;
    struct draw_rect r = {0, 0, 300, 30};
    draw_begin(&list, 400, 200, 0);
    float width = ui_text_rich(&list, &fake, r, UI_ALIGN_LEFT, body, "a_{ij} in my_file.png^{2}");
    assert_int_equal(list.cmd_count, 4);
    assert_string_equal(drawn(0), "a");
    assert_string_equal(drawn(1), "ij");
    assert_string_equal(drawn(2), " in my_file.png");
    assert_string_equal(drawn(3), "2");
    assert_float_equal(list.cmds[1].size, 10, 0);
    assert_true(list.cmds[1].rect.y > list.cmds[0].rect.y);
    assert_true(list.cmds[3].rect.y < list.cmds[0].rect.y);
    assert_float_equal(list.cmds[2].rect.x, 8 + 12, 0);
    assert_float_equal(width, 8 + 12 + 15 * 8 + 6, 0);
    assert_float_equal(ui_text_rich_width(&fake, body, "a_{ij}"), 20, 0);
    /* An unclosed brace is plain text; what is too long is cut. */
    draw_begin(&list, 400, 200, 0);
    ui_text_rich(&list, &fake, r, UI_ALIGN_LEFT, body, "a_{ij");
    assert_string_equal(drawn(0), "a_{ij");
    width = ui_text_rich(&list, &fake, (struct draw_rect){0, 0, 20, 30}, UI_ALIGN_LEFT, body,
                         "a_{ijk}");
    assert_true(width <= 20);
    assert_string_equal(drawn(list.cmd_count - 1), "\xE2\x80\xA6");
}

static void paragraphs_wrap(void **state)
{
    (void)state;
    float widest, line = ui_text_line_height(&fake, body);
    struct draw_rect r = {0, 0, 80, 0};
    draw_begin(&list, 400, 200, 0);
    float h = ui_text_wrap(&list, &fake, r, body, "one two three\nabcdefghijkl", &widest);
    assert_int_equal(list.cmd_count, 4);
    assert_string_equal(drawn(0), "one two");
    assert_string_equal(drawn(1), "three");
    assert_string_equal(drawn(2), "abcdefghij");
    assert_string_equal(drawn(3), "kl");
    assert_float_equal(h, 4 * line, 0);
    assert_float_equal(widest, 80, 0);
    assert_float_equal(ui_text_wrap(NULL, &fake, r, body, "one two three\nabcdefghijkl", NULL), h,
                       0);
    assert_float_equal(ui_text_wrap(NULL, &fake, r, body, "", NULL), 0, 0);
    /* Chinese breaks anywhere, but a full stop stays with its sentence. */
    draw_begin(&list, 400, 200, 0);
    ui_text_wrap(&list, &fake, (struct draw_rect){0, 0, 48, 0}, body,
                 "\xE4\xB8\xAD\xE4\xB8\xAD\xE4\xB8\xAD\xE3\x80\x82", NULL);
    assert_string_equal(drawn(0), "\xE4\xB8\xAD\xE4\xB8\xAD");
    assert_string_equal(drawn(1), "\xE4\xB8\xAD\xE3\x80\x82");
    /* No width at all: a character a line, and an end. */
    assert_float_equal(ui_text_wrap(NULL, &fake, (struct draw_rect){0, 0, 0, 0}, body, "abc", NULL),
                       3 * line, 0);
}

/* --- Layout and style ---- */

static void cutting_never_goes_below_zero(void **state)
{
    (void)state;
    struct draw_rect r = {0, 0, 100, 50};
    assert_rect(ui_cut_left(&r, 30, 8), 0, 0, 30, 50);
    assert_rect(r, 38, 0, 62, 50);
    assert_rect(ui_cut_right(&r, 20, 2), 80, 0, 20, 50);
    assert_rect(r, 38, 0, 40, 50);
    assert_rect(ui_cut_top(&r, 10, 5), 38, 0, 40, 10);
    assert_rect(ui_cut_bottom(&r, 10, 5), 38, 40, 40, 10);
    assert_rect(r, 38, 15, 40, 20);
    assert_rect(ui_cut_left(&r, 100, 8), 38, 15, 40, 20);
    assert_rect(r, 78, 15, 0, 20);
    assert_rect(ui_cut_right(&r, 5, 5), 78, 15, 0, 20);
    assert_rect(ui_cut_top(&r, -5, 0), 78, 15, 0, 0);
    assert_rect(ui_inset((struct draw_rect){0, 0, 10, 10}, 20, 2), 5, 2, 0, 6);
    assert_rect(ui_center((struct draw_rect){0, 0, 10, 10}, 5, 50), 2, 0, 5, 10);
    assert_rect(ui_nth((struct draw_rect){0, 0, 100, 10}, 0, 0, 4), 0, 0, 0, 10);
    struct draw_rect last = ui_nth((struct draw_rect){0, 0, 100, 10}, 2, 3, 4);
    assert_float_equal(last.x + last.w, 100, 0);
    assert_true(ui_nth((struct draw_rect){0, 0, 1, 1}, 2, 3, 4).w >= 0);
}

static void columns_walk_down(void **state)
{
    (void)state;
    struct ui_column column = ui_column((struct draw_rect){5, 10, 50, 20}, 4);
    assert_float_equal(ui_column_used(&column), 0, 0);
    assert_rect(ui_column_next(&column, 30), 5, 10, 50, 30);
    assert_rect(ui_column_next(&column, 30), 5, 44, 50, 30);
    assert_float_equal(ui_column_used(&column), 64, 0);
}

static double luminance(draw_color color)
{
    double sum = 0;
    const double weights[] = {0.0722, 0.7152, 0.2126};
    for (int i = 0; i < 3; i++) {
        double c = (color >> (8 + 8 * i) & 0xFF) / 255.0;
        sum += weights[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static double contrast(draw_color a, draw_color b)
{
    double la = luminance(a), lb = luminance(b);
    return (fmax(la, lb) + 0.05) / (fmin(la, lb) + 0.05);
}

static void text_can_be_read_in_both_themes(void **state)
{
    (void)state;
    assert_true(contrast(0xFFFFFFFF, 0x000000FF) > 20.9);
    for (int theme = 0; theme < UI_THEME_COUNT; theme++) {
        struct ui_style s;
        ui_style_set(&s, (enum ui_theme)theme, 1, 1);
        const draw_color grounds[] = {s.background, s.panel, s.raised, s.hover, s.selection};
        for (size_t i = 0; i < sizeof grounds / sizeof *grounds; i++)
            assert_true(contrast(s.text, grounds[i]) >= 4.5);
        for (size_t i = 0; i < 3; i++)
            assert_true(contrast(s.muted, grounds[i]) >= 4.5);
        assert_true(contrast(s.on_accent, s.accent) >= 4.5);
        assert_true(contrast(s.accent, s.panel) >= 3);
        assert_true(contrast(s.accent, s.background) >= 3);
        assert_true(contrast(s.muted, s.raised) >= 3);
    }
}

static void sizes_follow_the_scale(void **state)
{
    (void)state;
    struct ui_style s;
    ui_style_set(&s, UI_DARK, 1, 1);
    assert_float_equal(s.row, 30, 0);
    assert_float_equal(s.label, 88, 0);
    assert_float_equal(s.body, 13, 0);
    assert_float_equal(s.radius, 6, 0);
    ui_style_set(&s, UI_DARK, 2, 1.6f);
    assert_float_equal(s.body, 42, 0);
    assert_float_equal(s.radius, 12, 0);
    const float odd[] = {0, -1, NAN, INFINITY, 0.01f, 1000};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        ui_style_set(&s, UI_LIGHT, odd[i], odd[i]);
        assert_true(s.body >= 1 && s.body < 1000);
        assert_true(s.hair >= 1 && s.knob >= 1);
    }
    assert_int_equal(ui_mix(0x000000FF, 0xFFFFFFFF, 0.5f), 0x808080FF);
    assert_int_equal(ui_mix(0x11223344, 0xFFFFFFFF, 0), 0x11223344);
    assert_int_equal(ui_mix(0x11223344, 0x55667788, 1), 0x55667788);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clips_intersect_and_come_back),
        cmocka_unit_test(clips_too_deep_stay_paired),
        cmocka_unit_test(what_cannot_be_seen_is_left_out),
        cmocka_unit_test(overflow_is_counted_not_overrun),
        cmocka_unit_test(surplus_regions_share_the_last),
        cmocka_unit_test(region_hash_changes_with_what_is_seen),
        cmocka_unit_test(hash_ignores_padding),
        cmocka_unit_test(append_puts_pop_ups_last),
        cmocka_unit_test(utf8_walks_both_ways),
        cmocka_unit_test(text_is_aligned_on_whole_pixels),
        cmocka_unit_test(long_text_ends_in_dots),
        cmocka_unit_test(fit_counts_whole_characters),
        cmocka_unit_test(subscripts_are_small_and_low),
        cmocka_unit_test(paragraphs_wrap),
        cmocka_unit_test(cutting_never_goes_below_zero),
        cmocka_unit_test(columns_walk_down),
        cmocka_unit_test(text_can_be_read_in_both_themes),
        cmocka_unit_test(sizes_follow_the_scale),
    };
    fake = ui_text_fake();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
