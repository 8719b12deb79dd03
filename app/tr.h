/* SPDX-License-Identifier: MIT */
/* Every string that a person reads on the screen goes through here. */
#ifndef NONLOCAL_APP_TR_H
#define NONLOCAL_APP_TR_H

/* The text in the language chosen; English source texts are their own translation. */
const char *tr(const char *english);

/* Marks a string in a table; the reader of the table calls tr(). */
#define TR_N(english) english

#endif
