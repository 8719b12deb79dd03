/* SPDX-License-Identifier: MIT */
#include "damage.h"

#include <string.h>

static struct box box_union(struct box a, struct box b)
{
    return (struct box){a.x0 < b.x0 ? a.x0 : b.x0, a.y0 < b.y0 ? a.y0 : b.y0,
                        a.x1 > b.x1 ? a.x1 : b.x1, a.y1 > b.y1 ? a.y1 : b.y1};
}

static int64_t area(struct box box)
{
    return (int64_t)(box.x1 - box.x0) * (box.y1 - box.y0);
}

/* One rectangle instead of two when they overlap, or when little is drawn in vain. */
static bool should_join(struct box a, struct box b)
{
    return !box_is_empty(box_intersection(a, b)) ||
           10 * area(box_union(a, b)) <= 11 * (area(a) + area(b));
}

static void join(struct damage *damage, int i, struct box *box)
{
    *box = box_union(*box, damage->boxes[i]);
    damage->boxes[i] = damage->boxes[--damage->count];
}

static void add(struct damage *damage, struct box box)
{
    if (box_is_empty(box)) {
        return;
    }
    for (int i = 0; i < damage->count;) {
        if (should_join(damage->boxes[i], box)) {
            join(damage, i, &box);
            i = 0; /* it has grown: those passed over may touch it now */
        } else {
            i++;
        }
    }
    while (damage->count == DAMAGE_MAX) {
        join(damage, 0, &box);
    }
    /* Joining for want of room may have made it overlap others. */
    for (int i = 0; i < damage->count;) {
        if (!box_is_empty(box_intersection(damage->boxes[i], box))) {
            join(damage, i, &box);
            i = 0;
        } else {
            i++;
        }
    }
    damage->boxes[damage->count++] = box;
}

static bool same_region(const struct draw_region *a, const struct draw_region *b)
{
    return a->hash == b->hash && a->rect.x == b->rect.x && a->rect.y == b->rect.y &&
           a->rect.w == b->rect.w && a->rect.h == b->rect.h;
}

struct damage damage_find(struct frame_record *last, const struct draw_list *list)
{
    struct damage damage = {.count = 0};
    struct box all = {0, 0, list->width, list->height};
    /* A list without regions says nothing about what changed. */
    if (last->width != list->width || last->height != list->height ||
        last->background != list->background || list->region_count == 0) {
        add(&damage, all);
    } else {
        int most =
            last->region_count > list->region_count ? last->region_count : list->region_count;
        for (int i = 0; i < most; i++) {
            bool was = i < last->region_count, is = i < list->region_count;
            if (was && is && same_region(&last->regions[i], &list->regions[i])) {
                continue;
            }
            if (was) {
                add(&damage, box_intersection(box_around(last->regions[i].rect), all));
            }
            if (is) {
                add(&damage, box_intersection(box_around(list->regions[i].rect), all));
            }
        }
    }
    last->width = list->width;
    last->height = list->height;
    last->background = list->background;
    last->region_count = list->region_count;
    memcpy(last->regions, list->regions, sizeof last->regions[0] * (size_t)list->region_count);
    return damage;
}
