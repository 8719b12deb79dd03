/* SPDX-License-Identifier: MIT */
#include "plan.h"

/* How far back to look, and how many boxes of a batch to compare before taking it as a whole. */
enum { LOOK_BACK = 24, LOOK_INSIDE = 512 };

void plan_clear(struct plan *plan)
{
    plan->item_count = 0;
    plan->batch_count = 0;
}

static bool overlap(struct box a, struct box b)
{
    return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}

static bool overlaps_batch(const struct plan *plan, const struct plan_batch *batch, struct box box)
{
    if (!overlap(batch->box, box)) {
        return false;
    }
    if (batch->count > LOOK_INSIDE) {
        return true;
    }
    for (int i = batch->first; i >= 0; i = plan->items[i].next) {
        if (overlap(plan->items[i].box, box)) {
            return true;
        }
    }
    return false;
}

/* The earliest batch of the layer that has everything under the new item in it or before it. */
static struct plan_batch *find_batch(struct plan *plan, int layer, struct box box)
{
    struct plan_batch *found = NULL;
    int stop = plan->batch_count > LOOK_BACK ? plan->batch_count - LOOK_BACK : 0;
    for (int i = plan->batch_count - 1; i >= stop; i--) {
        struct plan_batch *batch = &plan->batches[i];
        if (batch->layer == layer && layer != PLAN_IMAGE) {
            found = batch;
        }
        if (overlaps_batch(plan, batch, box)) {
            break;
        }
    }
    return found;
}

void plan_add(struct plan *plan, int layer, int cmd, struct box box)
{
    if (plan->item_count == PLAN_MAX_ITEMS) {
        return;
    }
    int index = plan->item_count++;
    plan->items[index] = (struct plan_item){box, cmd, -1};
    struct plan_batch *batch = find_batch(plan, layer, box);
    if (!batch) {
        plan->batches[plan->batch_count++] = (struct plan_batch){box, layer, index, index, 1};
        return;
    }
    plan->items[batch->last].next = index;
    batch->last = index;
    batch->count++;
    if (box.x0 < batch->box.x0) {
        batch->box.x0 = box.x0;
    }
    if (box.y0 < batch->box.y0) {
        batch->box.y0 = box.y0;
    }
    if (box.x1 > batch->box.x1) {
        batch->box.x1 = box.x1;
    }
    if (box.y1 > batch->box.y1) {
        batch->box.y1 = box.y1;
    }
}
