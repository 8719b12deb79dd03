/* SPDX-License-Identifier: MIT */
#include "draw.h"

#include <math.h>
#include <string.h>

/* Wider than any screen: stands for an extent that the list cannot know. */
#define FAR 1e9f

struct draw_rect draw_rect_intersect(struct draw_rect a, struct draw_rect b)
{
    float x0 = fmaxf(a.x, b.x), x1 = fminf(a.x + a.w, b.x + b.w);
    float y0 = fmaxf(a.y, b.y), y1 = fminf(a.y + a.h, b.y + b.h);
    return (struct draw_rect){x0, y0, fmaxf(x1 - x0, 0), fmaxf(y1 - y0, 0)};
}

static struct draw_rect rect_union(struct draw_rect a, struct draw_rect b)
{
    float x0 = fminf(a.x, b.x), x1 = fmaxf(a.x + a.w, b.x + b.w);
    float y0 = fminf(a.y, b.y), y1 = fmaxf(a.y + a.h, b.y + b.h);
    return (struct draw_rect){x0, y0, x1 - x0, y1 - y0};
}

static struct draw_rect whole(const struct draw_list *list)
{
    return (struct draw_rect){0, 0, (float)list->width, (float)list->height};
}

void draw_begin(struct draw_list *list, int width, int height, draw_color background)
{
    list->width = width > 0 ? width : 0;
    list->height = height > 0 ? height : 0;
    list->background = background;
    memset(list->sources, 0, sizeof list->sources);
    list->region_count = list->region = 0;
    list->clip_count = 0;
    list->cmd_count = 0;
    list->text_size = 0;
    list->dropped = 0;
}

void draw_region_begin(struct draw_list *list, struct draw_rect rect)
{
    rect = draw_rect_intersect(rect, whole(list));
    if (list->region_count == DRAW_MAX_REGIONS) {
        /* Share the last one: redrawn more often than needed, but never missing. */
        struct draw_region *last = &list->regions[DRAW_MAX_REGIONS - 1];
        last->rect = rect_union(last->rect, rect);
        list->region = DRAW_MAX_REGIONS - 1;
        list->dropped++;
        return;
    }
    list->region = list->region_count++;
    list->regions[list->region] = (struct draw_region){.rect = rect};
}

static struct draw_rect region_rect(const struct draw_list *list)
{
    return list->region_count ? list->regions[list->region].rect : whole(list);
}

struct draw_rect draw_clip_current(const struct draw_list *list)
{
    int depth = list->clip_count < DRAW_MAX_CLIPS ? list->clip_count : DRAW_MAX_CLIPS;
    struct draw_rect region = region_rect(list);
    return depth ? draw_rect_intersect(list->clips[depth - 1], region) : region;
}

/* The count runs on past the capacity, so that pushes and pops stay paired. */
void draw_clip_push(struct draw_list *list, struct draw_rect rect)
{
    struct draw_rect clip = draw_rect_intersect(rect, draw_clip_current(list));
    if (list->clip_count < DRAW_MAX_CLIPS)
        list->clips[list->clip_count] = clip;
    else
        list->dropped++;
    list->clip_count++;
}

void draw_clip_pop(struct draw_list *list)
{
    if (list->clip_count > 0)
        list->clip_count--;
    else
        list->dropped++;
}

static bool finite_rect(struct draw_rect r)
{
    return isfinite(r.x) && isfinite(r.y) && isfinite(r.w) && isfinite(r.h);
}

/*
 * A zeroed command, or NULL when nothing of `bounds` can be seen (not an error) or there is no
 * room (counted).
 */
static struct draw_cmd *push(struct draw_list *list, enum draw_kind kind, struct draw_rect rect,
                             struct draw_rect bounds)
{
    if (!finite_rect(rect) || !finite_rect(bounds))
        return NULL;
    struct draw_rect clip = draw_clip_current(list);
    struct draw_rect visible = draw_rect_intersect(bounds, clip);
    if (visible.w <= 0 || visible.h <= 0)
        return NULL;
    if (list->cmd_count == DRAW_MAX_CMDS) {
        list->dropped++;
        return NULL;
    }
    if (list->region_count == 0) {
        draw_region_begin(list, whole(list));
    }
    struct draw_cmd *cmd = &list->cmds[list->cmd_count++];
    memset(cmd, 0, sizeof *cmd);
    cmd->kind = kind;
    cmd->region = (uint16_t)list->region;
    cmd->rect = rect;
    cmd->clip = clip;
    return cmd;
}

static struct draw_cmd *push_colored(struct draw_list *list, enum draw_kind kind,
                                     struct draw_rect rect, struct draw_rect bounds,
                                     draw_color color)
{
    if ((color & 0xFF) == 0)
        return NULL;
    struct draw_cmd *cmd = push(list, kind, rect, bounds);
    if (cmd)
        cmd->color = color;
    return cmd;
}

void draw_fill(struct draw_list *list, struct draw_rect rect, float radius, draw_color color)
{
    struct draw_cmd *cmd = push_colored(list, DRAW_FILL, rect, rect, color);
    if (cmd)
        cmd->radius = radius;
}

void draw_stroke(struct draw_list *list, struct draw_rect rect, float radius, float width,
                 draw_color color)
{
    struct draw_cmd *cmd = push_colored(list, DRAW_STROKE, rect, rect, color);
    if (cmd) {
        cmd->radius = radius;
        cmd->width = width;
    }
}

void draw_line(struct draw_list *list, float x0, float y0, float x1, float y1, float width,
               draw_color color)
{
    struct draw_rect bounds = {fminf(x0, x1) - width, fminf(y0, y1) - width,
                               fabsf(x1 - x0) + 2 * width, fabsf(y1 - y0) + 2 * width};
    struct draw_rect rect = {x0, y0, x1 - x0, y1 - y0};
    struct draw_cmd *cmd = push_colored(list, DRAW_LINE, rect, bounds, color);
    if (cmd)
        cmd->width = width;
}

static struct draw_rect around(float x, float y, float radius)
{
    return (struct draw_rect){x - radius, y - radius, 2 * radius, 2 * radius};
}

void draw_ring(struct draw_list *list, float x, float y, float radius, float width,
               draw_color color)
{
    struct draw_cmd *cmd = push_colored(list, DRAW_RING, (struct draw_rect){x, y, 0, 0},
                                        around(x, y, radius + width), color);
    if (cmd) {
        cmd->radius = radius;
        cmd->width = width;
    }
}

void draw_disc(struct draw_list *list, float x, float y, float radius, draw_color color)
{
    struct draw_cmd *cmd = push_colored(list, DRAW_DISC, (struct draw_rect){x, y, 0, 0},
                                        around(x, y, radius + 1), color);
    if (cmd)
        cmd->radius = radius;
}

void draw_text(struct draw_list *list, float x, float baseline, enum draw_font font, float size,
               draw_color color, const char *utf8, size_t length)
{
    /* How far the run reaches is the renderer's knowledge; it may hang over a little to the left.
     */
    struct draw_rect bounds = {x - size, baseline - 1.5f * size, FAR, 2.5f * size};
    if (length == 0)
        return;
    if (length >= (size_t)(DRAW_MAX_TEXT - list->text_size)) {
        list->dropped++;
        return;
    }
    struct draw_rect rect = {x, baseline, 0, 0};
    struct draw_cmd *cmd = push_colored(list, DRAW_TEXT, rect, bounds, color);
    if (!cmd)
        return;
    cmd->font = (uint8_t)font;
    cmd->size = size;
    cmd->text = (uint32_t)list->text_size;
    memcpy(list->text + list->text_size, utf8, length);
    list->text[(size_t)list->text_size + length] = '\0';
    list->text_size += (int)length + 1;
}

void draw_heatmap(struct draw_list *list, struct draw_rect rect, const struct draw_heat *heat)
{
    struct draw_cmd *cmd = push(list, DRAW_HEATMAP, rect, rect);
    if (cmd)
        cmd->u.heat = *heat;
}

void draw_matrix(struct draw_list *list, struct draw_rect rect, const struct draw_matrix *matrix)
{
    struct draw_cmd *cmd = push(list, DRAW_MATRIX, rect, rect);
    if (cmd)
        cmd->u.matrix = *matrix;
}

void draw_mask(struct draw_list *list, struct draw_rect rect, const struct draw_mask *mask,
               draw_color color)
{
    struct draw_cmd *cmd = push(list, DRAW_MASK, rect, rect);
    if (!cmd)
        return;
    cmd->u.mask = *mask;
    cmd->color = color;
}

void draw_bar(struct draw_list *list, struct draw_rect rect, int map)
{
    struct draw_cmd *cmd = push(list, DRAW_BAR, rect, rect);
    if (cmd)
        cmd->u.map = map;
}

void draw_append(struct draw_list *list, const struct draw_list *other)
{
    uint16_t region_at[DRAW_MAX_REGIONS];
    int text_at = list->text_size;
    if (other->text_size > DRAW_MAX_TEXT - text_at) {
        list->dropped += other->cmd_count;
        return;
    }
    for (int i = 0; i < other->region_count; i++) {
        draw_region_begin(list, other->regions[i].rect);
        region_at[i] = (uint16_t)list->region;
    }
    memcpy(list->text + text_at, other->text, (size_t)other->text_size);
    list->text_size += other->text_size;
    for (int i = 0; i < other->cmd_count; i++) {
        if (list->cmd_count == DRAW_MAX_CMDS) {
            list->dropped++;
            continue;
        }
        struct draw_cmd *cmd = &list->cmds[list->cmd_count++];
        *cmd = other->cmds[i];
        cmd->region = region_at[cmd->region];
        if (cmd->kind == DRAW_TEXT)
            cmd->text += (uint32_t)text_at;
    }
    list->dropped += other->dropped;
}

/* --- Hashes --------------------------------------------------------------------------------- */

/*
 * FNV-1a by words of 32 bits instead of bytes, folded so that the high bits reach the low ones.
 * Fields are fed one by one: the padding of a struct that a caller filled is not ours to zero.
 */
static uint64_t mix(uint64_t hash, uint32_t word)
{
    hash = (hash ^ word) * UINT64_C(0x100000001B3);
    return hash ^ hash >> 29;
}

static uint64_t mix64(uint64_t hash, uint64_t value)
{
    return mix(mix(hash, (uint32_t)value), (uint32_t)(value >> 32));
}

static uint64_t mix_float(uint64_t hash, float value)
{
    uint32_t word;
    value += 0.0f; /* -0 looks the same as 0 */
    memcpy(&word, &value, sizeof word);
    return mix(hash, word);
}

static uint64_t mix_rect(uint64_t hash, struct draw_rect r)
{
    hash = mix_float(hash, r.x);
    hash = mix_float(hash, r.y);
    hash = mix_float(hash, r.w);
    return mix_float(hash, r.h);
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = mix(hash, (unsigned char)*text);
    return mix(hash, 0);
}

static uint64_t mix_heat(uint64_t hash, const struct draw_list *list, const struct draw_heat *heat)
{
    const float values[] = {heat->u0,      heat->v0,      heat->u1,  heat->v1,
                            heat->cover_u, heat->cover_v, heat->dim, heat->saturation,
                            heat->opacity, heat->low,     heat->high};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        hash = mix_float(hash, values[i]);
    hash = mix(hash, (uint32_t)heat->map);
    hash = mix(hash, (uint32_t)heat->scale);
    hash = mix(hash, heat->weights);
    hash = mix64(hash, list->sources[DRAW_SLOT_PICTURE].key);
    return heat->weights ? mix64(hash, list->sources[DRAW_SLOT_WEIGHTS].key) : hash;
}

static uint64_t mix_matrix(uint64_t hash, const struct draw_list *list,
                           const struct draw_matrix *matrix)
{
    const float values[] = {matrix->x0,   matrix->y0,   matrix->x1, matrix->y1, matrix->low,
                            matrix->high, matrix->from, matrix->to, matrix->n};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        hash = mix_float(hash, values[i]);
    hash = mix(hash, (uint32_t)matrix->map);
    hash = mix(hash, (uint32_t)matrix->scale);
    hash = mix(hash, matrix->overview);
    if (matrix->overview)
        return mix64(hash, list->sources[DRAW_SLOT_OVERVIEW].key);
    hash = mix64(hash, list->sources[DRAW_SLOT_MATRIX].key);
    return mix64(hash, list->sources[DRAW_SLOT_PERMUTATION].key);
}

static uint64_t mix_mask(uint64_t hash, const struct draw_list *list, const struct draw_mask *mask)
{
    const float values[] = {mask->u0, mask->v0, mask->u1, mask->v1, mask->cover_u, mask->cover_v};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        hash = mix_float(hash, values[i]);
    hash = mix(mix(hash, (uint32_t)mask->columns), (uint32_t)mask->rows);
    return mix64(hash, list->sources[DRAW_SLOT_SELECTION].key);
}

static uint64_t mix_cmd(uint64_t hash, const struct draw_list *list, const struct draw_cmd *cmd)
{
    hash = mix(hash, (uint32_t)cmd->kind);
    hash = mix_rect(hash, cmd->rect);
    hash = mix_rect(hash, cmd->clip);
    hash = mix_float(hash, cmd->radius);
    hash = mix_float(hash, cmd->width);
    hash = mix_float(hash, cmd->size);
    hash = mix(hash, cmd->color);
    hash = mix(hash, cmd->font);
    switch (cmd->kind) {
    case DRAW_TEXT:
        return mix_text(hash, list->text + cmd->text);
    case DRAW_HEATMAP:
        return mix_heat(hash, list, &cmd->u.heat);
    case DRAW_MATRIX:
        return mix_matrix(hash, list, &cmd->u.matrix);
    case DRAW_MASK:
        return mix_mask(hash, list, &cmd->u.mask);
    case DRAW_BAR:
        return mix(hash, (uint32_t)cmd->u.map);
    default:
        return hash;
    }
}

void draw_end(struct draw_list *list)
{
    uint64_t seed = UINT64_C(0xCBF29CE484222325);
    seed = mix(seed, (uint32_t)list->width);
    seed = mix(seed, (uint32_t)list->height);
    seed = mix(seed, list->background);
    for (int i = 0; i < list->region_count; i++)
        list->regions[i].hash = mix_rect(seed, list->regions[i].rect);
    for (int i = 0; i < list->cmd_count; i++) {
        const struct draw_cmd *cmd = &list->cmds[i];
        struct draw_region *region = &list->regions[cmd->region];
        region->hash = mix_cmd(region->hash, list, cmd);
    }
}
