/* SPDX-License-Identifier: MIT */
/* The tree that a matrix is sorted by, lying on its side: leaves at the matrix, root to the left.
 */
#include <math.h>
#include <stdio.h>

#include "../tr.h"
#include "../view.h"

struct tree_frame {
    struct draw_rect rect;
    double y0, y1, top; /* positions shown; height of the root */
};

static float screen_y(const struct tree_frame *frame, double at)
{
    return frame->rect.y + (float)((at - frame->y0) / (frame->y1 - frame->y0)) * frame->rect.h;
}

static float screen_x(const struct tree_frame *frame, double height)
{
    return frame->rect.x + frame->rect.w * (float)(1 - (frame->top > 0 ? height / frame->top : 0));
}

/* More would say no more, and the list of what is drawn is finite. */
enum { BRANCHES_MAX = 1000 };

/* The two arms of a merge and the line that joins them. */
static void draw_branch(struct ui *ui, const struct tree_frame *frame, const struct branch *branch,
                        float thick, draw_color color)
{
    const float x = screen_x(frame, branch->height);
    const float low = screen_y(frame, branch->low), high = screen_y(frame, branch->high);
    const float ends[2] = {screen_x(frame, branch->under[0]), screen_x(frame, branch->under[1])};
    draw_fill(ui->list,
              (struct draw_rect){floorf(x), floorf(low), thick, floorf(high) - floorf(low) + thick},
              0, color);
    for (int a = 0; a < 2; a++)
        draw_fill(ui->list,
                  (struct draw_rect){floorf(x), floorf(a ? high : low),
                                     fmaxf(floorf(ends[a]) - floorf(x), thick), thick},
                  0, color);
}

/* Branches of a pixel or two would only be a smear, and the list of commands is finite. */
static bool is_shown(const struct tree_frame *frame, const struct branch *branch, double least)
{
    const double first = (double)branch->first, last = (double)branch->last + 1;
    const double per_pixel = (frame->y1 - frame->y0) / (double)frame->rect.h;
    return last > frame->y0 && first < frame->y1 && last - first >= least * per_pixel;
}

static void draw_tree(struct ui *ui, const struct tree_frame *frame,
                      const struct dendrogram *dendrogram, size_t chosen)
{
    const struct ui_style *style = ui->style;
    const draw_color plain = style->muted, bright = style->result;
    const draw_color faint = ui_mix(style->panel, style->muted, 0.4f);
    const struct branch *root = chosen < dendrogram->count ? &dendrogram->branches[chosen] : NULL;
    const double least = frame->rect.h > 1000 ? 5 : 3;
    int drawn = 0;
    for (size_t m = dendrogram->count; m-- > 0 && drawn < BRANCHES_MAX;) { /* the highest first */
        const struct branch *branch = &dendrogram->branches[m];
        const bool inside =
            root && m <= chosen && branch->first >= root->first && branch->last <= root->last;
        if (!is_shown(frame, branch, least))
            continue;
        drawn++;
        draw_branch(ui, frame, branch, inside ? 2 * style->hair : style->hair,
                    inside                               ? bright
                    : is_shown(frame, branch, 4 * least) ? plain
                                                         : faint);
    }
}

/* The branch under the pointer: what cutting the tree there would leave. */
static size_t branch_at(const struct tree_frame *frame, const struct dendrogram *dendrogram,
                        const struct ui_signal *signal)
{
    const double down = (double)((signal->y - frame->rect.y) / frame->rect.h);
    const double at = frame->y0 + (frame->y1 - frame->y0) * down;
    const double share = 1 - (double)((signal->x - frame->rect.x) / frame->rect.w);
    const size_t position = (size_t)fmin(fmax(floor(at), 0), (double)dendrogram->leaves - 1);
    /* a little above a branch is still on it */
    return dendrogram_cut(dendrogram, position, (fmax(share, 0) + 0.02) * frame->top);
}

/* Left goes to what a branch is part of, right to its larger part, up and down to its parts. */
static size_t walk(struct ui *ui, const struct dendrogram *dendrogram, size_t branch)
{
    const size_t root = dendrogram->count - 1;
    const bool left = ui_key(ui, UI_KEY_LEFT, 0), right = ui_key(ui, UI_KEY_RIGHT, 0);
    const bool up = ui_key(ui, UI_KEY_UP, 0), down = ui_key(ui, UI_KEY_DOWN, 0);
    if (!left && !right && !up && !down)
        return branch;
    if (branch > root)
        return root;
    const struct branch *now = &dendrogram->branches[branch];
    if (left)
        return now->parent == SIZE_MAX ? root : now->parent;
    const size_t upper = dendrogram_cut(dendrogram, now->first, now->under[0]);
    const size_t lower = dendrogram_cut(dendrogram, now->last, now->under[1]);
    const bool larger_above = now->at - (double)now->first > (double)now->last + 1 - now->at;
    const size_t wanted = up || (right && larger_above) ? upper : lower;
    const size_t other = wanted == upper ? lower : upper;
    return wanted != SIZE_MAX ? wanted : right && other != SIZE_MAX ? other : branch;
}

static void say_branch(struct ui *ui, const struct branch *branch)
{
    char text[200], number[32];
    snprintf(text, sizeof text, "%zu %s %s\n%s", branch->last - branch->first + 1,
             tr("rows joined at height"), view_number(branch->height, number, sizeof number),
             tr("click selects them"));
    ui_note(ui, text);
    ui_set_cursor(ui, UI_CURSOR_HAND);
}

void panel_dendrogram(struct ui *ui, struct draw_rect rect, const struct scene *scene, double y0,
                      double y1, struct view *view, struct edits *edits)
{
    const struct dendrogram *dendrogram = &scene->result->order->dendrogram;
    const float margin = ui_px(ui->style, 4); /* the root's line, and air before the matrix */
    const struct tree_frame frame = {{rect.x + margin, rect.y, rect.w - 2 * margin, rect.h},
                                     y0,
                                     y1,
                                     dendrogram->branches[dendrogram->count - 1].height};
    const ui_id id = ui_id_of(ui, "dendrogram");
    const struct ui_signal signal = ui_interact(ui, id, rect, UI_ITEM_FOCUS);
    size_t chosen = SIZE_MAX;
    if (signal.focused)
        chosen = view->branch = walk(ui, dendrogram, view->branch);
    if (signal.hovered)
        chosen = branch_at(&frame, dendrogram, &signal);
    ui_clip_begin(ui, rect);
    draw_tree(ui, &frame, dendrogram, chosen);
    ui_clip_end(ui);
    ui_focus_ring(ui, id, rect, 0);
    if (chosen >= dendrogram->count)
        return;
    const struct branch *branch = &dendrogram->branches[chosen];
    if (signal.hovered)
        say_branch(ui, branch);
    if ((signal.clicked && signal.button == UI_LEFT) || ui_activated(ui, &signal)) {
        view->branch = chosen;
        edit_pick(edits,
                  &(struct pick){.kind = PICK_POSITIONS,
                                 .first = branch->first,
                                 .last = branch->last,
                                 .first2 = branch->first,
                                 .last2 = branch->last},
                  true);
    }
}
