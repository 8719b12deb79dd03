/* SPDX-License-Identifier: MIT */
#include "undo.h"

#include <stdlib.h>

nl_status undo_create(struct undo *undo, nl_error *error)
{
    *undo = (struct undo){0};
    undo->ring = calloc(UNDO_STEPS, sizeof *undo->ring);
    return undo->ring ? NL_OK : nl_fail(error, NL_NOMEM, "no memory for undo");
}

void undo_free(struct undo *undo)
{
    free(undo->ring);
    *undo = (struct undo){0};
}

static struct snapshot *step(struct undo *undo, int number)
{
    return &undo->ring[(undo->first + number) % UNDO_STEPS];
}

void undo_before(struct undo *undo, const struct snapshot *now, bool committed)
{
    if (!undo->open) {
        if (undo->at == UNDO_STEPS) { /* the oldest step makes room */
            undo->first = (undo->first + 1) % UNDO_STEPS;
            undo->at--;
        }
        *step(undo, undo->at) = *now;
        undo->count = ++undo->at;
    }
    undo->open = !committed;
}

void undo_end(struct undo *undo)
{
    undo->open = false;
}

static void swap(struct snapshot *a, struct snapshot *b)
{
    struct snapshot keep = *a;
    *a = *b;
    *b = keep;
}

bool undo_back(struct undo *undo, struct snapshot *now)
{
    if (undo->at == 0)
        return false;
    undo->open = false;
    swap(now, step(undo, --undo->at));
    return true;
}

bool undo_forward(struct undo *undo, struct snapshot *now)
{
    if (undo->at == undo->count)
        return false;
    undo->open = false;
    swap(now, step(undo, undo->at++));
    return true;
}
