/* SPDX-License-Identifier: MIT */
/* Undo by snapshots: a ring of documents. */
#ifndef NONLOCAL_APP_UNDO_H
#define NONLOCAL_APP_UNDO_H

#include "doc.h"

enum { UNDO_STEPS = 100, UNDO_DOCS = 2 };

/* All of what one step brings back: each scene's document, and the scene shown. */
struct snapshot {
    struct doc docs[UNDO_DOCS];
    int scene;
};

struct undo {
    struct snapshot *ring; /* UNDO_STEPS */
    int first, count, at;  /* steps kept; the one after which we stand */
    bool open;             /* a change has begun (a drag) and not ended */
};

nl_status undo_create(struct undo *undo, nl_error *error);
void undo_free(struct undo *undo);

/*
 * Call before a change with what is there: the first call of a drag keeps it, those that follow
 * until committed do not. Whatever could be redone is forgotten.
 */
void undo_before(struct undo *undo, const struct snapshot *now, bool committed);

/* Whatever has begun has ended, committed or not: the next change is a step of its own. */
void undo_end(struct undo *undo);

/* Swap *now with the step before or after; false when there is none. */
bool undo_back(struct undo *undo, struct snapshot *now);
bool undo_forward(struct undo *undo, struct snapshot *now);

#endif
