/* SPDX-License-Identifier: MIT */
#include "args.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Options that are not parameters of the document. */
struct option {
    const char *name;
    const char *metavar; /* NULL: a switch */
    const char *help;
    unsigned verbs;
    nl_status (*read)(struct args *args, const char *text, nl_error *error);
};

static nl_status read_output(struct args *args, const char *text, nl_error *error)
{
    args->output = text;
    return *text ? NL_OK : nl_fail(error, NL_INVALID, "-o: the file name is empty");
}

static nl_status read_order_out(struct args *args, const char *text, nl_error *error)
{
    args->order_out = text;
    return *text ? NL_OK : nl_fail(error, NL_INVALID, "--order-out: the file name is empty");
}

static nl_status read_tree_out(struct args *args, const char *text, nl_error *error)
{
    args->tree_out = text;
    return *text ? NL_OK : nl_fail(error, NL_INVALID, "--tree-out: the file name is empty");
}

static nl_status read_matrix(struct args *args, const char *text, nl_error *error)
{
    (void)text;
    (void)error;
    args->doc.ready = true;
    return NL_OK;
}

static nl_status read_residual(struct args *args, const char *text, nl_error *error)
{
    (void)text;
    (void)error;
    args->residual = true;
    return NL_OK;
}

static nl_status read_query(struct args *args, const char *text, nl_error *error)
{
    struct doc *doc = &args->doc;
    struct doc_query query = {0};
    char *end = NULL;
    bool ok;
    if (doc->query_count == DOC_QUERIES)
        return nl_fail(error, NL_INVALID, "--query: at most %d queries at a time", DOC_QUERIES);
    if (strncmp(text, "row:", 4) == 0) {
        unsigned long row = strtoul(text + 4, &end, 10);
        ok = text[4] >= '0' && text[4] <= '9' && !*end && row >= 1;
        query = (struct doc_query){.by_row = true, .row = row - 1};
    } else {
        query.x = strtod(text, &end);
        ok = end != text && *end == ',';
        const char *second = ok ? end + 1 : text;
        query.y = strtod(second, &end);
        ok = ok && end != second && !*end && isfinite(query.x) && isfinite(query.y);
    }
    if (!ok)
        return nl_fail(error, NL_INVALID,
                       "--query: '%.60s' is neither X,Y in pixels nor row:N counted from 1", text);
    doc->queries[doc->query_count++] = query;
    return NL_OK;
}

static nl_status read_label(struct args *args, const char *text, nl_error *error)
{
    (void)error;
    args->csv.label = text;
    args->csv_given = true;
    return NL_OK;
}

static nl_status read_columns(struct args *args, const char *text, nl_error *error)
{
    (void)error;
    args->csv.columns = text;
    args->csv_given = true;
    return NL_OK;
}

static nl_status read_missing(struct args *args, const char *text, nl_error *error)
{
    args->csv_given = true;
    if (strcmp(text, "drop") == 0)
        args->csv.missing = NL_MISSING_DROP;
    else if (strcmp(text, "mean") == 0)
        args->csv.missing = NL_MISSING_MEAN;
    else
        return nl_fail(error, NL_INVALID, "--missing: '%.60s' is not one of drop, mean", text);
    return NL_OK;
}

static nl_status read_trace(struct args *args, const char *text, nl_error *error)
{
    args->trace = text;
    return *text ? NL_OK : nl_fail(error, NL_INVALID, "--trace: the folder's name is empty");
}

static nl_status read_weights(struct args *args, const char *text, nl_error *error)
{
    if (!*text || strlen(text) >= sizeof args->doc.weights)
        return nl_fail(error, NL_INVALID, "--weights: the file's name is empty or too long");
    snprintf(args->doc.weights, sizeof args->doc.weights, "%s", text);
    return NL_OK;
}

static nl_status read_repeat(struct args *args, const char *text, nl_error *error)
{
    char *end = NULL;
    long repeat = strtol(text, &end, 10);
    if (end == text || *end || repeat < 1 || repeat > 10000)
        return nl_fail(error, NL_INVALID, "--repeat: '%.60s' is not a whole number from 1 to 10000",
                       text);
    args->repeat = (int)repeat;
    return NL_OK;
}

static nl_status read_keys(struct args *args, const char *text, nl_error *error)
{
    args->keys = text;
    return *text ? NL_OK : nl_fail(error, NL_INVALID, "--keys: the file's name is empty");
}

static nl_status read_received(struct args *args, const char *text, nl_error *error)
{
    (void)text;
    (void)error;
    args->received = true;
    return NL_OK;
}

/* A count from 1 on; 0 with an error. */
static size_t read_count(const char *option, const char *text, nl_error *error)
{
    char *end = NULL;
    unsigned long count = strtoul(text, &end, 10);
    if (text[0] >= '1' && text[0] <= '9' && !*end && count <= 1 << 20)
        return count;
    nl_fail(error, NL_INVALID, "%s: '%.60s' is not a whole number from 1 to %d", option, text,
            1 << 20);
    return 0;
}

static nl_status read_n(struct args *args, const char *text, nl_error *error)
{
    args->n = read_count("--n", text, error);
    return args->n ? NL_OK : NL_INVALID;
}

static nl_status read_d(struct args *args, const char *text, nl_error *error)
{
    args->d = read_count("--d", text, error);
    return args->d ? NL_OK : NL_INVALID;
}

static nl_status read_json(struct args *args, const char *text, nl_error *error)
{
    (void)text;
    (void)error;
    args->json = true;
    return NL_OK;
}

/* Index of text among NULL-ended names, or -1 with an error. */
static int one_of(const char *option, const char *text, const char *const *names, nl_error *error)
{
    char list[120] = "";
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], text) == 0)
            return i;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    nl_fail(error, NL_INVALID, "%s: '%.60s' is not one of %s", option, text, list);
    return -1;
}

static nl_status read_size(struct args *args, const char *text, nl_error *error)
{
    char *end = NULL;
    long width = strtol(text, &end, 10), height = 0;
    if (end != text && *end == 'x')
        height = strtol(end + 1, &end, 10);
    if (*end || width < 64 || height < 64 || width > 8192 || height > 8192)
        return nl_fail(error, NL_INVALID,
                       "--size: '%.60s' is not WIDTHxHEIGHT with sides of 64 to 8192 pixels", text);
    args->width = (int)width;
    args->height = (int)height;
    return NL_OK;
}

static nl_status read_view(struct args *args, const char *text, nl_error *error)
{
    static const char *const names[] = {"window", "heatmap", "matrix", NULL};
    args->view = one_of("--view", text, names, error);
    return args->view >= 0 ? NL_OK : NL_INVALID;
}

static nl_status read_theme(struct args *args, const char *text, nl_error *error)
{
    static const char *const names[] = {"dark", "light", NULL};
    args->theme = one_of("--theme", text, names, error);
    return args->theme >= 0 ? NL_OK : NL_INVALID;
}

static nl_status read_ui_scale(struct args *args, const char *text, nl_error *error)
{
    char *end = NULL;
    args->ui_scale = strtod(text, &end);
    if (end == text || *end || !(args->ui_scale >= 0.5 && args->ui_scale <= 4))
        return nl_fail(error, NL_INVALID, "--ui-scale: '%.60s' is not a number from 0.5 to 4",
                       text);
    return NL_OK;
}

static nl_status read_font(struct args *args, const char *text, nl_error *error)
{
    args->font = text;
    return *text ? NL_OK : nl_fail(error, NL_INVALID, "--font: the name is empty");
}

static nl_status read_clean(struct args *args, const char *text, nl_error *error)
{
    args->clean = text;
    return *text ? NL_OK : nl_fail(error, NL_INVALID, "--clean: the file name is empty");
}

static nl_status parse_patch_weight(const char *text, double *deviation, nl_error *error)
{
    char *end = NULL;
    *deviation = 0;
    if (strcmp(text, "flat") == 0)
        return NL_OK;
    if (strncmp(text, "gaussian:", 9) == 0)
        *deviation = strtod(text + 9, &end);
    if (!end || end == text + 9 || *end || !(*deviation >= 0.01 && *deviation <= 1000))
        return nl_fail(error, NL_INVALID,
                       "--patch-weight: '%.60s' is neither flat nor gaussian:A with a deviation A "
                       "of 0.01 to 1000 pixels",
                       text);
    return NL_OK;
}

static nl_status read_patch_weight(struct args *args, const char *text, nl_error *error)
{
    return parse_patch_weight(text, &args->gaussian, error);
}

static nl_status read_feature_weight(struct args *args, const char *text, nl_error *error)
{
    args->weight_given = true;
    return parse_patch_weight(text, &args->doc.patch_gaussian, error);
}

/* A window with a middle. */
static nl_status check_search(const struct doc *doc, nl_error *error)
{
    const size_t search = (size_t)param_number(doc, PARAM_SEARCH);
    if (search == 0 || search % 2 == 1)
        return NL_OK;
    return nl_fail(
        error, NL_INVALID,
        "--search: %zu has no middle pixel or cell; take %zu or %zu, or 0 for everywhere", search,
        search - 1, search + 1);
}

enum { TABLES = VERB_ATTEND | VERB_APPLY | VERB_DISSIM, SCREEN = VERB_WINDOW | VERB_RENDER };

static const struct option options[] = {
    {"-o", "OUT", "File to write; its ending says how.",
     TABLES | VERB_BLOCK | VERB_DENOISE | VERB_RENDER, read_output},
    {"--query", "X,Y|row:N",
     "A pixel of the upright picture, or a row counted from 1; may be repeated.",
     VERB_ATTEND | VERB_WINDOW | VERB_RENDER, read_query},
    {"--residual", NULL, "Adds the input: Z = X + Y instead of Y.", VERB_APPLY, read_residual},
    {"--clean", "REF", "Picture without the noise: prints the PSNR against it.", VERB_DENOISE,
     read_clean},
    {"--patch-weight", "flat|gaussian:A",
     "Pixels of a patch count alike, or by a Gaussian of A pixels around its centre.", VERB_DENOISE,
     read_patch_weight},
    {"--patch-weight", "flat|gaussian:A",
     "Numbers of a patch count alike, or by a Gaussian of A pixels around its centre.",
     VERB_ATTEND | VERB_APPLY, read_feature_weight},
    {"--label", "COLUMN", "Column of a table that holds the class; '' for none.", TABLES,
     read_label},
    {"--columns", "A,B", "Columns of a table to use, by name.", TABLES, read_columns},
    {"--missing", "drop|mean", "What to do about missing cells; without it they are an error.",
     TABLES, read_missing},
    {"--order-out", "P.csv", "Writes the order as position,row[,label].", VERB_DISSIM,
     read_order_out},
    {"--tree-out", "T.csv", "Writes the tree as left,right,height,size, numbered as scipy does.",
     VERB_DISSIM, read_tree_out},
    {"--matrix", NULL, "The file is a dissimilarity matrix itself, square.",
     VERB_DISSIM | VERB_WINDOW | VERB_RENDER, read_matrix},
    {"--keys", "B", "Reads keys from this picture, table or array instead: cross-attention.",
     VERB_ATTEND, read_keys},
    {"--received", NULL, "What every point reads from this one: a column of A, not a row.",
     VERB_ATTEND, read_received},
    {"--repeat", "N", "Applies y = A x N times: keys and values stay, the queries move.",
     VERB_APPLY, read_repeat},
    {"--weights", "W.npz|.safetensors", "Weights from a file instead of --embed.",
     VERB_ATTEND | VERB_APPLY | VERB_BLOCK, read_weights},
    {"--trace", "DIR", "Writes X Q K V S A H Y Z as .npy into this folder.", VERB_BLOCK,
     read_trace},
    {"--n", "N", "Rows, keys, or pixels a side.", VERB_BENCH, read_n},
    {"--d", "N", "Features.", VERB_BENCH, read_d},
    {"--json", NULL, "One line of JSON.", VERB_BENCH, read_json},
    {"--size", "WxH", "Size in pixels; default 1366x768, of the window 1280x800.", SCREEN,
     read_size},
    {"--view", "window|heatmap|matrix", "What the picture shows.", VERB_RENDER, read_view},
    {"--theme", "dark|light", "Colours of the window.", SCREEN, read_theme},
    {"--ui-scale", "X", "Size of everything, 0.5 to 4; default is the system's.", SCREEN,
     read_ui_scale},
    {"--font", "NAME", "Font family or file that comes before the usual ones.", SCREEN, read_font},
};

static const struct option *find_option(const struct verb *verb, const char *name)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if ((options[i].verbs & verb->bit) && strcmp(options[i].name, name) == 0)
            return &options[i];
    return NULL;
}

static nl_status read_param(const struct verb *verb, const char *name, const char *value,
                            struct args *args, nl_error *error)
{
    enum param_id id = strncmp(name, "--", 2) == 0 ? param_find(name + 2) : PARAM_COUNT;
    struct param_value parsed;
    if (id == PARAM_COUNT || !(param_table[id].verbs & verb->bit))
        return nl_fail(error, NL_INVALID, "unknown option '%.60s'; see nonlocal %s --help", name,
                       verb->name);
    if (!value)
        return nl_fail(error, NL_INVALID, "%s needs a value", name);
    nl_status status = param_parse(id, value, &parsed, error);
    if (status == NL_OK)
        param_set(&args->doc, id, parsed);
    return status;
}

/* One option at argv[*at], as "--name value" or "--name=value". */
static nl_status read_option(const struct verb *verb, int argc, char **argv, int *at,
                             struct args *args, nl_error *error)
{
    char name[64];
    const char *equals = argv[*at][1] == '-' ? strchr(argv[*at], '=') : NULL;
    size_t length = equals ? (size_t)(equals - argv[*at]) : strlen(argv[*at]);
    snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), argv[*at]);
    const struct option *option = find_option(verb, name);
    if (option && !option->metavar) {
        if (equals)
            return nl_fail(error, NL_INVALID, "%s takes no value", name);
        return option->read(args, NULL, error);
    }
    const char *value = equals ? equals + 1 : *at + 1 < argc ? argv[*at + 1] : NULL;
    if (!option) {
        nl_status status = read_param(verb, name, value, args, error);
        *at += !equals;
        return status;
    }
    if (!value)
        return nl_fail(error, NL_INVALID, "%s needs a value: %s", name, option->metavar);
    *at += !equals;
    return option->read(args, value, error);
}

static void start_doc(const struct verb *verb, struct doc *doc)
{
    if (verb->bit == VERB_BLOCK)
        doc_init_plain(doc);
    else
        doc_init(doc);
}

/* After everything that was given, whose defaults give way to the verb's own. */
static void apply_defaults(const struct verb *verb, struct doc *doc)
{
    for (const struct verb_default *d = verb->defaults; d && d->id != PARAM_COUNT; d++)
        if (!doc->params[d->id].given)
            doc->params[d->id] = (struct param_value){.number = d->number};
}

nl_status args_parse(const struct verb *verb, int argc, char **argv, struct args *args, bool *help,
                     nl_error *error)
{
    bool only_files = false;
    *args = (struct args){0};
    start_doc(verb, &args->doc);
    args->repeat = 1;
    nl_csv_params_init(&args->csv);
    *help = false;
    for (int i = 1; i < argc; i++)
        *help = *help || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    for (int i = 1; i < argc && !*help; i++) {
        nl_status status = NL_OK;
        if (!only_files && strcmp(argv[i], "--") == 0)
            only_files = true;
        else if (!only_files && argv[i][0] == '-' && argv[i][1])
            status = read_option(verb, argc, argv, &i, args, error);
        else if (!verb->needs_file && !verb->optional_file)
            status = nl_fail(error, NL_INVALID, "'%.100s' is one argument too many", argv[i]);
        else if (args->doc.source[0])
            status =
                nl_fail(error, NL_INVALID, "one file at a time: '%.100s' is a second one", argv[i]);
        else if (strlen(argv[i]) >= sizeof args->doc.source || !*argv[i])
            status = nl_fail(error, NL_INVALID, "the file's name is empty or too long");
        else
            snprintf(args->doc.source, sizeof args->doc.source, "%s", argv[i]);
        if (status != NL_OK)
            return status;
    }
    if (!*help && verb->needs_file && !args->doc.source[0])
        return nl_fail(error, NL_INVALID, "no file given; use: nonlocal %s %s", verb->name,
                       verb->synopsis);
    apply_defaults(verb, &args->doc);
    return *help ? NL_OK : check_search(&args->doc, error);
}

/* doc: what the verb starts from when nothing is given. */
static void print_param(const struct doc *doc, enum param_id id)
{
    const struct param_spec *spec = &param_table[id];
    char value[64];
    printf("  --%s", spec->key);
    if (spec->type == PARAM_CHOICE)
        for (int i = 0; spec->choice_name(i); i++)
            printf("%c%s", i ? '|' : ' ', spec->choice_name(i));
    else
        printf(" %s", spec->type == PARAM_INT ? "N" : spec->type == PARAM_AMOUNT ? "X|X%" : "X");
    printf("\n      %s", spec->help);
    if (id != PARAM_DIM && id != PARAM_TEMPERATURE)
        printf(" Default %s.", param_format(id, doc->params[id], value, sizeof value));
    printf("\n");
}

void args_help(const struct verb *verb)
{
    printf("usage: nonlocal %s %s\n\n%s\n\noptions:\n", verb->name, verb->synopsis, verb->summary);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].verbs & verb->bit)
            printf("  %s%s%s\n      %s\n", options[i].name, options[i].metavar ? " " : "",
                   options[i].metavar ? options[i].metavar : "", options[i].help);
    struct doc doc;
    start_doc(verb, &doc);
    apply_defaults(verb, &doc);
    for (int id = 0; id < PARAM_COUNT; id++)
        if (param_table[id].verbs & verb->bit)
            print_param(&doc, (enum param_id)id);
}
