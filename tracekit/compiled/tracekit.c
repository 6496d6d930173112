/* What tracekit does in C: scanning the events of a Chrome trace into columns, nesting intervals,
 * reading the cells of a table, lines that are like earlier ones, and the events of an XSpace
 * (the last parts).
 *
 * For a reader of Python: this file does what events.py and columns.py of tracekit/reading/chrome
 * do, for the plain events that nearly all are. It knows no profiler: Python says which tables
 * there are, which categories of events go into which (a route), and which argument fills which
 * column (a key). An event that is not plain in every respect (a number with an exponent, a key
 * that comes twice, an escape where few are) is not guessed at: it is handed back as "odd", by its
 * place in the text, and Python reads it. A text that is no sound JSON is refused as a whole, and
 * Python salvages what it can.
 *
 * How it is called: ctypes (tracekit/compiled/__init__.py). There is no Python API here, so one
 * library serves every version of Python, and other threads run while it works.
 *
 * Memory: every allocation is checked. What fails sets `failed`: this block and all later ones are
 * refused, as a column may be half made.
 * Bounds: the text must be followed by PADDING zero bytes, as a look ahead is never longer. A zero
 * byte ends every loop over the text, as JSON has none. Other text may come between, that of the
 * next blocks: an event that reaches into it is refused.
 * Undo: the values of an event count only once `row_count` has grown past it (`commit`); what an
 * odd event wrote before it was found odd is taken back (`take_back`), and so are all rows of a
 * text that is refused (`tracekit_undo`). Rows wait from scan to scan until Python copied them.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
/* for fallocate, mkostemp and madvise; NOLINTNEXTLINE(cert-*,bugprone-*) */
#define _GNU_SOURCE
#endif

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#endif

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

enum { PADDING = 64, MOST_DEPTH = 64, MOST_TABLES = 8, MOST_COLUMNS = 64, MOST_KEYS = 64 };
enum { MOST_ROUTES = 128, MOST_NAME = 48, MOST_OTHERS = 32, MOST_NUMBER = 40, FIRST_ROWS = 1024 };
enum { MOST_PROBES = 256 };

enum { MOST_TEXTS = 1 << 14, MOST_TEXT_BYTES = 1 << 20, FIRST_TEXTS = 256, PLACE_NUMBERS = 5 };

enum { COLUMN_INTEGER = 0, COLUMN_TEXT = 1, COLUMN_CODED = 2 };
/* What a key's value must be, and what is kept of it; see `Kind` in scanner.py. */
enum {
    KEY_INTEGER,
    KEY_NUMBER,
    KEY_JSON,
    KEY_TEXT,
    KEY_VECTOR,
    KEY_OTHER,
    KEY_DIGITS,    /* a whole number as text */
    KEY_REFERENCE, /* the same, not negative, with or without $$ before it */
    KEY_LABEL      /* a text of a kind of events; see `Kinds` */
};
/* The columns that the event itself fills, in the order in which Python names them. */
enum {
    IN_ID,
    IN_ROUTE,
    IN_TIME,
    IN_DURATION,
    IN_NAME,
    IN_PROCESS,
    IN_THREAD,
    IN_TRACK,
    IN_FLOW,
    IN_REST,
    IN_KIND,  /* of events: their row in the table of kinds */
    IN_MARKS, /* of kinds: a bit for each column of their events that has a value */
    ROLES
};
/* How a scan ends. */
enum { ALL_READ = 0, CLOSED = 1, REFUSED = 2 };

typedef struct {
    int kind;
    uint8_t *known;    /* a bit per row: whether it has a value; NULL until the column has one */
    int64_t *integers; /* of COLUMN_INTEGER: a value per row */
    int32_t
        *ends; /* of COLUMN_TEXT: where the text of row i begins; the next begins where it ends */
    uint8_t *bytes;
    int64_t size, capacity; /* of `bytes` */
    int64_t known_count;
    int64_t size_before, known_before; /* the last scan */
    /* of COLUMN_CODED: which text a row has. `ends` and `bytes` have each text once; they last from
     * scan to scan, until they are many. What follows the last is the text of the current row. */
    int32_t *codes;
    int64_t text_count, text_capacity, generation;
    uint64_t *places; /* of texts by their hashes: half of the hash, and the code + 1; 0: free */
    int64_t place_count;
} Column;

typedef struct {
    char name[MOST_NAME];
    int length, column, kind;
    int64_t least, most; /* an integer outside is odd */
    int64_t none[2];     /* integers that the profiler writes for "none" */
    int none_count;
} Key;

typedef struct Table {
    int column_count, key_count, role[ROLES];
    struct Table *kinds; /* of the texts of its events, or NULL: then every argument is also kept */
    int coded[MOST_COLUMNS], coded_count; /* columns that are COLUMN_CODED */
    int texts[MOST_COLUMNS], text_count;  /* and COLUMN_TEXT */
    Column columns[MOST_COLUMNS];
    Key keys[MOST_KEYS];
    int following[MOST_KEYS + 1]; /* the key that came after each, from 1; after 0, the first */
    int64_t row_count, capacity;
    int64_t rows_before; /* the last scan */
} Table;

typedef struct {
    char phase, category[MOST_NAME];
    int length, table, has_duration;
    int memory_table; /* of events named [memory]; or -1 */
} Route;

typedef struct {
    Table tables[MOST_TABLES];
    Route routes[MOST_ROUTES];
    int table_count, route_count, last_route, failed;
    struct {
        Table *table; /* a row for each combination of texts that events have, while they last */
        uint64_t *hashes; /* of its rows */
        int32_t *places;  /* of its rows, by their hashes; -1: free */
        int64_t hash_capacity, place_count;
    } kinds;
    int64_t *odd; /* three numbers for each odd event: where it begins, where it ends, its id */
    int64_t odd_count, odd_capacity;
} Scanner;

/* ---- hashes ---- */

static uint64_t mixed(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 32);
}

static uint64_t hash_with(uint64_t hash, const uint8_t *from, const uint8_t *to) {
    uint64_t word = 0;
    for (; to - from >= 8; from += 8) {
        memcpy(&word, from, 8);
        hash = mixed(hash, word);
    }
    int64_t rest = to - from; /* fewer than 8 bytes */
    word = 0;
    if (rest >= 4) { /* all of them by two words, which may overlap */
        uint32_t first, last;
        memcpy(&first, from, 4);
        memcpy(&last, to - 4, 4);
        word = (uint64_t)last << 32 | first;
    } else {
        for (int64_t i = 0; i < rest; i++) word = word << 8 | from[i];
    }
    return mixed(hash ^ (uint64_t)rest, word);
}

/* ---- memory ---- */

static void *grown(Scanner *scanner, void *memory, int64_t size) {
    void *bigger = size > 0 ? realloc(memory, (size_t)size) : NULL;
    if (!bigger) scanner->failed = 1;
    return bigger;
}

/* Make room for `capacity` rows in a column that has values. */
static int resize_column(Scanner *scanner, Column *column, int64_t old, int64_t capacity) {
    uint8_t *known = grown(scanner, column->known, capacity / 8);
    if (!known) return 0;
    memset(known + old / 8, 0, (size_t)(capacity / 8 - old / 8));
    column->known = known;
    if (column->kind == COLUMN_INTEGER) {
        int64_t *integers = grown(scanner, column->integers, capacity * 8);
        if (!integers) return 0;
        memset(integers + old, 0, (size_t)(capacity - old) * 8);
        column->integers = integers;
        return 1;
    }
    if (column->kind == COLUMN_CODED) {
        int32_t *codes = grown(scanner, column->codes, capacity * 4);
        if (!codes) return 0;
        memset(codes + old, 0, (size_t)(capacity - old) * 4);
        column->codes = codes;
        return 1;
    }
    int32_t *ends = grown(scanner, column->ends, (capacity + 1) * 4);
    if (!ends) return 0;
    column->ends = ends;
    return 1;
}

/* Make room for one more text of a coded column: at least half of the places stay free. */
static int make_text_room(Scanner *scanner, Column *column) {
    if (column->text_count < column->text_capacity) return 1;
    int64_t capacity = column->text_capacity ? 2 * column->text_capacity : FIRST_TEXTS;
    int32_t *ends = grown(scanner, column->ends, (capacity + 1) * 4);
    if (!ends) return 0;
    if (!column->ends) ends[0] = 0;
    column->ends = ends;
    uint64_t *places = grown(scanner, column->places, 2 * capacity * 8);
    if (!places) return 0;
    column->places = places;
    memset(places, 0, (size_t)capacity * 2 * 8);
    column->text_capacity = capacity;
    column->place_count = 2 * capacity;
    for (int64_t i = 0; i < column->text_count; i++) {
        uint64_t hash = hash_with(0, column->bytes + ends[i], column->bytes + ends[i + 1]);
        uint64_t at = hash & (uint64_t)(column->place_count - 1);
        while (places[at]) at = (at + 1) & (uint64_t)(column->place_count - 1);
        places[at] = (hash & ~(uint64_t)UINT32_MAX) | (uint64_t)(i + 1);
    }
    return 1;
}

/* A column on its first value: most columns of a table stay empty. */
static int begin_column(Scanner *scanner, Table *table, Column *column) {
    if (column->known) return 1;
    if (!resize_column(scanner, column, 0, table->capacity)) return 0;
    if (column->kind == COLUMN_TEXT) memset(column->ends, 0, (size_t)(table->row_count + 1) * 4);
    return column->kind != COLUMN_CODED || make_text_room(scanner, column);
}

static int make_room(Scanner *scanner, Table *table) {
    if (table->row_count < table->capacity) return 1;
    int64_t capacity = table->capacity ? table->capacity * 2 : FIRST_ROWS;
    for (int i = 0; i < table->column_count; i++) {
        Column *column = &table->columns[i];
        if (column->known && !resize_column(scanner, column, table->capacity, capacity)) return 0;
    }
    table->capacity = capacity;
    return 1;
}

static int has_value(const Column *column, int64_t row) {
    return column->known && (column->known[row / 8] >> (row % 8) & 1);
}

static void mark(Column *column, int64_t row) {
    column->known[row / 8] |= (uint8_t)(1 << (row % 8));
    column->known_count++;
}

static int put_integer(Scanner *scanner, Table *table, int at, int64_t value) {
    Column *column = &table->columns[at];
    if (!begin_column(scanner, table, column)) return 0;
    column->integers[table->row_count] = value;
    mark(column, table->row_count);
    return 1;
}

/* Append to the text of the current row. */
static int append(Scanner *scanner, Column *column, const uint8_t *from, int64_t size) {
    if (column->size + size + PADDING > column->capacity) {
        int64_t capacity = (column->size + size) * 2 + 1024;
        if (capacity > INT32_MAX) { /* Arrow's offsets have 32 bits */
            scanner->failed = 1;
            return 0;
        }
        uint8_t *bytes = grown(scanner, column->bytes, capacity);
        if (!bytes) return 0;
        column->bytes = bytes;
        column->capacity = capacity;
    }
    memcpy(column->bytes + column->size, from, (size_t)size);
    column->size += size;
    return 1;
}

static int put_text(Scanner *scanner, Table *table, int at, const uint8_t *from, int64_t size) {
    Column *column = &table->columns[at];
    if (!begin_column(scanner, table, column) || !append(scanner, column, from, size)) return 0;
    mark(column, table->row_count);
    return 1;
}

/* Give the current row the code of its text, which is new or known; 0 if there is no room, or too
 * many texts have like hashes. */
static int code_text(Scanner *scanner, Column *column, int64_t row) {
    if (!make_text_room(scanner, column)) return 0;
    const uint8_t *from = column->bytes + column->ends[column->text_count];
    const uint8_t *to = column->bytes + column->size;
    uint64_t hash = hash_with(0, from, to), last = (uint64_t)(column->place_count - 1);
    for (uint64_t n = 0; n < MOST_PROBES; n++) {
        uint64_t *place = &column->places[(hash + n) & last];
        if (!*place) {
            column->codes[row] = (int32_t)column->text_count++;
            column->ends[column->text_count] = (int32_t)column->size;
            *place = (hash & ~(uint64_t)UINT32_MAX) | (uint64_t)column->text_count;
            return 1;
        }
        if ((*place ^ hash) >> 32) continue;
        int64_t code = (int64_t)(*place & UINT32_MAX) - 1, start = column->ends[code];
        if (column->ends[code + 1] - start != to - from) continue;
        if (to > from && memcmp(column->bytes + start, from, (size_t)(to - from)) != 0) continue;
        column->codes[row] = (int32_t)code;
        column->size = from - column->bytes;
        return 1;
    }
    return 0;
}

static int code_texts(Scanner *scanner, Table *table) {
    for (int i = 0; i < table->coded_count; i++) {
        Column *column = &table->columns[table->coded[i]];
        if (!has_value(column, table->row_count)) continue;
        if (!code_text(scanner, column, table->row_count)) return 0;
    }
    return 1;
}

/* The row is complete. */
static void commit(Table *table) {
    int64_t row = table->row_count++;
    for (int i = 0; i < table->text_count; i++) {
        Column *column = &table->columns[table->texts[i]];
        if (column->ends) column->ends[row + 1] = (int32_t)column->size;
    }
}

/* The row never was. */
static void take_back(Table *table) {
    int64_t row = table->row_count;
    if (row >= table->capacity) return;
    for (int i = 0; i < table->column_count; i++) {
        Column *column = &table->columns[i];
        if (has_value(column, row)) {
            column->known[row / 8] &= (uint8_t)~(1 << (row % 8));
            column->known_count--;
        }
        if (column->ends)
            column->size = column->ends[column->kind == COLUMN_CODED ? column->text_count : row];
    }
}

/* ---- kinds ---- */

static int64_t text_size(const Column *column, int64_t row, const uint8_t **from) {
    if (!column->ends) return *from = column->bytes, 0; /* no text was ever put */
    int64_t end = column->ends[row + 1];
    *from = column->bytes + column->ends[row];
    return end - column->ends[row];
}

/* A hash of the values of a row. */
static uint64_t hash_of_row(const Table *table, int64_t row) {
    const uint64_t factor = 0x9E3779B97F4A7C15u;
    uint64_t hash = factor;
    for (int i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        const uint8_t *at;
        if (!has_value(column, row)) continue;
        int is_text = column->kind == COLUMN_TEXT;
        int64_t size = is_text ? text_size(column, row, &at) : column->integers[row];
        hash = (hash ^ (uint64_t)size ^ ((uint64_t)i << 40)) * factor;
        for (; is_text && size > 0; size -= 8, at += 8) {
            uint64_t word = 0;
            memcpy(&word, at, size < 8 ? (size_t)size : 8);
            hash = (hash ^ word) * factor;
            hash ^= hash >> 32;
        }
    }
    return hash;
}

static int is_same(const Table *table, int64_t one, int64_t other) {
    for (int i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        const uint8_t *ours, *theirs;
        if (has_value(column, one) != has_value(column, other)) return 0;
        if (!has_value(column, one)) continue;
        if (column->kind == COLUMN_INTEGER) {
            if (column->integers[one] != column->integers[other]) return 0;
            continue;
        }
        int64_t size = text_size(column, one, &ours);
        if (size != text_size(column, other, &theirs)) return 0;
        if (size && memcmp(ours, theirs, (size_t)size) != 0) return 0;
    }
    return 1;
}

/* Make room for one more kind: at least half of the places stay free. */
static int make_places(Scanner *scanner) {
    int64_t count = scanner->kinds.table->row_count;
    if (count >= scanner->kinds.hash_capacity) {
        int64_t capacity = count * 2 + FIRST_ROWS;
        uint64_t *hashes = grown(scanner, scanner->kinds.hashes, capacity * 8);
        if (!hashes) return 0;
        scanner->kinds.hashes = hashes;
        scanner->kinds.hash_capacity = capacity;
    }
    if (2 * (count + 1) <= scanner->kinds.place_count) return 1;
    int64_t wanted = 2 * (scanner->kinds.place_count ? scanner->kinds.place_count : FIRST_ROWS);
    int32_t *places = grown(scanner, scanner->kinds.places, wanted * 4);
    if (!places) return 0;
    scanner->kinds.places = places;
    scanner->kinds.place_count = wanted;
    memset(places, 0xFF, (size_t)wanted * 4);
    for (int64_t row = 0; row < count; row++) {
        uint64_t at = scanner->kinds.hashes[row] & (uint64_t)(wanted - 1);
        while (places[at] >= 0) at = (at + 1) & (uint64_t)(wanted - 1);
        places[at] = (int32_t)row;
    }
    return 1;
}

/* Find the kind that the pending row is, or make it one; 0 if there is no room, or too many have
 * like hashes. */
static int find_kind(Scanner *scanner, int64_t *number) {
    Table *table = scanner->kinds.table;
    if (!make_places(scanner)) return 0;
    int64_t row = table->row_count;
    for (int i = 0; i < table->column_count; i++) /* where its texts end */
        if (table->columns[i].ends)
            table->columns[i].ends[row + 1] = (int32_t)table->columns[i].size;
    uint64_t hash = hash_of_row(table, row), last = (uint64_t)(scanner->kinds.place_count - 1);
    for (uint64_t n = 0; n < MOST_PROBES; n++) {
        uint64_t at = (hash + n) & last;
        int64_t known = scanner->kinds.places[at];
        if (known < 0) {
            scanner->kinds.hashes[row] = hash;
            scanner->kinds.places[at] = (int32_t)row;
            commit(table);
            *number = row;
            return 1;
        }
        if (scanner->kinds.hashes[known] == hash && is_same(table, known, row)) {
            take_back(table);
            *number = known;
            return 1;
        }
    }
    return 0;
}

/* ---- JSON ---- */

static int is_digit(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

static int is_letter(uint8_t byte) {
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

static const uint8_t *skip_space(const uint8_t *at) {
    while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t') at++;
    return at;
}

static int hex_of(const uint8_t *at) {
    int value = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t byte = at[i], lower = byte | 0x20;
        int digit = is_digit(byte)                 ? byte - '0'
                    : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10
                                                   : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* Past `\uXXXX`, or two of them that make a pair; NULL for half of a pair. */
static const uint8_t *skip_code(const uint8_t *at) {
    int code = hex_of(at + 2);
    if (code < 0 || (code >= 0xDC00 && code <= 0xDFFF)) return NULL;
    if (code < 0xD800 || code > 0xDFFF) return at + 6;
    if (at[6] != '\\' || at[7] != 'u') return NULL;
    int low = hex_of(at + 8);
    return low >= 0xDC00 && low <= 0xDFFF ? at + 12 : NULL;
}

/* Past the escape at a backslash; NULL if it is none of JSON's. */
static const uint8_t *skip_escape(const uint8_t *at) {
    switch (at[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': return at + 2;
    case 'u': return skip_code(at);
    default: return NULL;
    }
}

/* Whether one of 8 bytes is a quote, a backslash or a control character. Each test sets the highest
 * bit of a byte that holds it: subtracting 1 from 0, or 0x20 from less, borrows. It may also set
 * that of a byte after one that holds it, which costs a second look and nothing else. */
static int ends_plain(const uint8_t *at) {
    const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    uint64_t word, quote, slash;
    memcpy(&word, at, 8);
    quote = word ^ (ones * '"');
    slash = word ^ (ones * '\\');
    return (((quote - ones) & ~quote) | ((slash - ones) & ~slash) |
            ((word - ones * 0x20) & ~word)) &
                   high
               ? 1
               : 0;
}

/* From behind the opening quote to the closing one; NULL if the text has none, or a control
 * character. `escapes` counts what is escaped. */
static const uint8_t *text_end(const uint8_t *at, int *escapes) {
    for (;;) {
        while (!ends_plain(at)) at += 8;
        while (*at >= 0x20 && *at != '"' && *at != '\\') at++;
        if (*at == '"') return at;
        if (*at != '\\') return NULL;
        ++*escapes;
        if (!(at = skip_escape(at))) return NULL;
    }
}

/* Past the closing quote of a text without escapes, which is from `*from` for `*size` bytes. */
static const uint8_t *plain_text(const uint8_t *at, const uint8_t **from, int64_t *size) {
    int escapes = 0;
    if (*at != '"') return NULL;
    const uint8_t *end = text_end(at + 1, &escapes);
    if (!end || escapes) return NULL;
    *from = at + 1;
    *size = end - at - 1;
    return end + 1;
}

static int has_exponent(const uint8_t *at) {
    return (*at | 0x20) == 'e';
}

/* Past a number, up to its exponent. */
static const uint8_t *skip_decimal(const uint8_t *at) {
    if (*at == '-') at++;
    if (*at == '0')
        at++;
    else if (is_digit(*at))
        while (is_digit(*at)) at++;
    else
        return NULL;
    if (*at == '.') {
        if (!is_digit(*++at)) return NULL;
        while (is_digit(*at)) at++;
    }
    return at;
}

/* Past a number. */
static const uint8_t *skip_number(const uint8_t *at) {
    if (!(at = skip_decimal(at))) return NULL;
    if (has_exponent(at)) {
        at++;
        if (*at == '+' || *at == '-') at++;
        if (!is_digit(*at)) return NULL;
        while (is_digit(*at)) at++;
    }
    return at;
}

static const uint8_t *skip_value(const uint8_t *at, int depth);

/* Past a list or an object. */
static const uint8_t *skip_members(const uint8_t *at, uint8_t closing, int depth) {
    int escapes = 0;
    if (!depth) return NULL;
    at = skip_space(at + 1);
    if (*at == closing) return at + 1;
    for (;;) {
        if (closing == '}') {
            if (*at != '"' || !(at = text_end(at + 1, &escapes))) return NULL;
            at = skip_space(at + 1);
            if (*at != ':') return NULL;
            at = skip_space(at + 1);
        }
        if (!(at = skip_value(at, depth - 1))) return NULL;
        at = skip_space(at);
        if (*at == closing) return at + 1;
        if (*at != ',') return NULL;
        at = skip_space(at + 1);
    }
}

/* Past a sound value of at most so many levels; NULL if it is none. */
static const uint8_t *skip_value(const uint8_t *at, int depth) {
    int escapes = 0;
    switch (*at) {
    case '"': at = text_end(at + 1, &escapes); return at ? at + 1 : NULL;
    case '[': return skip_members(at, ']', depth);
    case '{': return skip_members(at, '}', depth);
    case 't': return memcmp(at, "true", 4) ? NULL : at + 4;
    case 'f': return memcmp(at, "false", 5) ? NULL : at + 5;
    case 'n': return memcmp(at, "null", 4) ? NULL : at + 4;
    default: return skip_number(at);
    }
}

static int is_null(const uint8_t *at) {
    return !memcmp(at, "null", 4);
}

/* Past a whole number of at most 18 digits; NULL if it is none. */
static const uint8_t *read_integer(const uint8_t *at, int64_t *value) {
    int is_negative = *at == '-';
    const uint8_t *first = at += is_negative;
    int64_t sum = 0;
    while (is_digit(*at) && at - first < 18) sum = sum * 10 + (*at++ - '0');
    if (at == first || (*first == '0' && at - first > 1)) return NULL;
    if (is_digit(*at) || *at == '.' || has_exponent(at)) return NULL;
    *value = is_negative ? -sum : sum;
    return at;
}

/* Past an exponent from -5 to -99; NULL if it is another. */
static const uint8_t *skip_vanishing(const uint8_t *at) {
    int exponent = 0, digits = 0;
    if (at[1] != '-') return NULL;
    for (at += 2; is_digit(*at) && digits < 2; digits++) exponent = exponent * 10 + (*at++ - '0');
    return exponent >= 5 && !is_digit(*at) ? at : NULL;
}

/* Past microseconds of at most 16 digits before the point, as nanoseconds, half to even; NULL if
 * they are none, or no 64 bits hold them. With an exponent only if they are less than a ten
 * thousandth: 9.9999999999999995e-07 is how a picosecond is written. */
static const uint8_t *read_nanoseconds(const uint8_t *at, int64_t *value) {
    int is_negative = *at == '-', decimals = 0;
    const uint8_t *first = at += is_negative;
    uint64_t sum = 0; /* of at most 19 digits */
    while (is_digit(*at) && at - first < 16) sum = sum * 10 + (uint64_t)(*at++ - '0');
    if (at == first || is_digit(*at) || (*first == '0' && at - first > 1)) return NULL;
    if (*at == '.') {
        if (!is_digit(*++at)) return NULL;
        for (; is_digit(*at) && decimals < 3; decimals++) sum = sum * 10 + (uint64_t)(*at++ - '0');
        if (is_digit(*at)) {
            int next = *at++ - '0', more = 0;
            while (is_digit(*at)) more |= *at++ != '0';
            if (next > 5 || (next == 5 && (more || sum % 2))) sum++;
        }
    }
    if (has_exponent(at)) {
        *value = 0;
        return !is_negative && (first[1] == '.' || at == first + 1) ? skip_vanishing(at) : NULL;
    }
    for (; decimals < 3; decimals++) sum *= 10;
    if (sum > INT64_MAX) return NULL;
    *value = is_negative ? -(int64_t)sum : (int64_t)sum;
    return at;
}

/* ---- texts with escapes ---- */

static int append_utf8(Scanner *scanner, Column *column, uint32_t code) {
    uint8_t bytes[4];
    int size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = size - 1; i > 0; i--, code >>= 6) bytes[i] = (uint8_t)(0x80 | (code & 0x3F));
    bytes[0] = (uint8_t)(size == 1 ? code : (0xF00u >> size & 0xFF) | code);
    return append(scanner, column, bytes, size);
}

/* Append what `\uXXXX` at `*at`, or the pair that begins there, stands for. */
static int append_code(Scanner *scanner, Column *column, const uint8_t **at) {
    uint32_t code = (uint32_t)hex_of(*at + 2);
    *at += 6;
    if (code >= 0xD800 && code <= 0xDFFF) {
        code = 0x10000 + ((code - 0xD800) << 10) + ((uint32_t)hex_of(*at + 2) - 0xDC00);
        *at += 6;
    }
    return append_utf8(scanner, column, code);
}

/* Put a text that has escapes, all of them sound; 0 if it cannot be. */
static int put_escaped(Scanner *scanner, Table *table, int at, const uint8_t *from,
                       const uint8_t *end) {
    static const char letters[] = "bfnrt", bytes[] = "\b\f\n\r\t";
    Column *column = &table->columns[at];
    if (!begin_column(scanner, table, column)) return 0;
    while (from < end) {
        const uint8_t *plain = from;
        while (from < end && *from != '\\') from++;
        if (!append(scanner, column, plain, from - plain)) return 0;
        if (from == end) break;
        if (from[1] == 'u') {
            if (!append_code(scanner, column, &from)) return 0;
            continue;
        }
        const char *letter = strchr(letters, from[1]);
        uint8_t byte = letter ? (uint8_t)bytes[letter - letters] : from[1];
        if (!append(scanner, column, &byte, 1)) return 0;
        from += 2;
    }
    mark(column, table->row_count);
    return 1;
}

/* ---- arguments ---- */

/* What is seen of an event. A text is where it begins and how long it is. */
typedef struct {
    const uint8_t *category, *name, *process, *thread;
    int64_t category_size, name_size, process_size, thread_size;
    int64_t time_ns, dur_ns, process_id, thread_id, flow_id;
    int name_escapes, has_text_place;
    unsigned seen;
    uint8_t phase;
    const Route *route;
    int route_number;
    Table *table;
} Event;

enum {
    HAS_PHASE = 1,
    HAS_CATEGORY = 2,
    HAS_NAME = 4,
    HAS_PROCESS = 8,
    HAS_THREAD = 16,
    HAS_TIME = 32,
    HAS_DURATION = 64,
    HAS_FLOW = 128,
    HAS_ARGS = 256,
    HAS_SCOPE = 512,
    HAS_BINDING = 1024
};

static const uint8_t *read_vector(Scanner *scanner, Table *table, int column, const uint8_t *at) {
    if (*at != '[') return NULL;
    for (int i = 0; i < 3; i++) {
        int64_t value;
        if (!(at = read_integer(skip_space(at + 1), &value))) return NULL;
        if (!put_integer(scanner, table, column + i, value)) return NULL;
        at = skip_space(at);
        if (*at != (i < 2 ? ',' : ']')) return NULL;
    }
    return at + 1;
}

static int is_none(const Key *key, int64_t value) {
    for (int i = 0; i < key->none_count; i++)
        if (key->none[i] == value) return 1;
    return 0;
}

/* Past a quoted whole number. */
static const uint8_t *read_quoted(const uint8_t *at, int may_refer, int64_t *value) {
    if (*at++ != '"') return NULL;
    if (may_refer && *at == '-') return NULL;
    if (may_refer && at[0] == '$' && at[1] == '$') at += 2;
    if (may_refer && *at == '-') return NULL;
    at = read_integer(at, value);
    return at && *at == '"' ? at + 1 : NULL;
}

/* Whether a text has no escapes but those that Python writes too. */
static int has_usual_escapes(const uint8_t *from, const uint8_t *end) {
    for (; from < end; from++) {
        if (*from != '\\') continue;
        from++;
        if (!strchr("\"\\bfnrt", *from)) return 0;
    }
    return 1;
}

/* Past a text, which goes into a column of the kinds. */
static const uint8_t *read_label(Scanner *scanner, Table *kinds, int column, const uint8_t *at) {
    int escapes = 0;
    if (*at != '"') return NULL;
    const uint8_t *end = text_end(++at, &escapes);
    if (!end) return NULL;
    if (escapes ? !has_usual_escapes(at, end) || !put_escaped(scanner, kinds, column, at, end)
                : !put_text(scanner, kinds, column, at, end - at))
        return NULL;
    return end + 1;
}

/* Past the value of a known key, which goes into its column; NULL if it is odd. */
static const uint8_t *read_known(Scanner *scanner, Table *table, const Key *key,
                                 const uint8_t *at) {
    const uint8_t *from = at;
    int64_t value, size;
    if (is_null(at)) return at + 4;
    switch (key->kind) {
    case KEY_INTEGER:
        if (!(at = read_integer(at, &value)) || value < key->least || value > key->most)
            return NULL;
        if (is_none(key, value)) return at;
        return put_integer(scanner, table, key->column, value) ? at : NULL;
    case KEY_NUMBER: /* plain decimals: its text, which Python converts: exactly, and no faster here
                      */
        if (*from == '-' || !(at = skip_decimal(at)) || at - from > MOST_NUMBER) return NULL;
        return put_text(scanner, table, key->column, from, at - from) ? at : NULL;
    case KEY_JSON:
        if (*at == '[' || *at == '{') {
            if (!(at = skip_value(at, MOST_DEPTH))) return NULL;
            return put_text(scanner, table, key->column, from, at - from) ? at : NULL;
        } /* fall through */
    case KEY_TEXT:
        if (!(at = plain_text(at, &from, &size))) return NULL;
        return put_text(scanner, table, key->column, from, size) ? at : NULL;
    case KEY_DIGITS:
    case KEY_REFERENCE:
        if (!(at = read_quoted(at, key->kind == KEY_REFERENCE, &value))) return NULL;
        return put_integer(scanner, table, key->column, value) ? at : NULL;
    case KEY_LABEL: return read_label(scanner, table->kinds, key->column, at);
    default: return read_vector(scanner, table, key->column, at);
    }
}

/* The key of a table that is at `at`, behind its opening quote; mostly the one that came after the
 * `last` one before (0: the first of its event), which is noted for the next time. */
static const Key *find_key(Table *table, const uint8_t *at, int *last) {
    int guess = table->following[*last];
    for (int i = 0; i < table->key_count; i++) {
        int place = guess + i < table->key_count ? guess + i : guess + i - table->key_count;
        const Key *key = &table->keys[place];
        if (at[key->length] == '"' && !memcmp(at, key->name, (size_t)key->length)) {
            table->following[*last] = place;
            *last = place + 1;
            return key;
        }
    }
    return NULL;
}

/* An argument that has no column: its key, without the quotes, and its value, as they are. */
typedef struct {
    const uint8_t *key, *value;
    int64_t key_size, value_size;
} Other;

/* Insert an argument in the order of the keys; 0 if there is one with that key, or no room. */
static int insert_other(Other *others, int *count, Other other) {
    int place = *count;
    if (place == MOST_OTHERS) return 0;
    for (; place > 0; place--) {
        const Other *before = &others[place - 1];
        int64_t shorter = before->key_size < other.key_size ? before->key_size : other.key_size;
        int order = memcmp(before->key, other.key, (size_t)shorter);
        if (!order && before->key_size == other.key_size) return 0;
        if (order < 0 || (!order && before->key_size < other.key_size)) break;
    }
    memmove(others + place + 1, others + place, (size_t)(*count - place) * sizeof *others);
    others[place] = other;
    ++*count;
    return 1;
}

/* Past a value that Python would write as it is here, having read it: a whole number, a text
 * without escapes, or a list of whole numbers without spaces. */
static const uint8_t *skip_as_written(const uint8_t *at) {
    const uint8_t *text;
    int64_t number, size;
    if (*at == '"') return plain_text(at, &text, &size);
    if (*at != '[') return at[0] == '-' && at[1] == '0' ? NULL : read_integer(at, &number);
    do {
        at++;
        if ((at[0] == '-' && at[1] == '0') || !(at = read_integer(at, &number))) return NULL;
    } while (*at == ',');
    return *at == ']' ? at + 1 : NULL;
}

/* Whether arguments are in the text as they are to be written: in order, without spaces. */
static int is_as_written(const Other *others, int count, const uint8_t *from, const uint8_t *end) {
    if (others[0].key != from + 2) return 0;
    for (int i = 0; i < count; i++) {
        const uint8_t *value = others[i].key + others[i].key_size + 2;
        const uint8_t *next = others[i].value + others[i].value_size;
        if (others[i].value != value) return 0;
        if (i + 1 < count ? others[i + 1].key != next + 2 : next != end) return 0;
    }
    return 1;
}

/* Put the arguments that have no column, as a JSON object; all arguments are from `from` up to the
 * brace at `end`. */
static int put_others(Scanner *scanner, Table *table, const Other *others, int count,
                      const uint8_t *from, const uint8_t *end) {
    Column *column = &table->columns[table->role[IN_REST]];
    if (!count) return 1;
    if (!begin_column(scanner, table, column)) return 0;
    if (is_as_written(others, count, from, end)) {
        if (!append(scanner, column, from, end - from + 1)) return 0;
        mark(column, table->row_count);
        return 1;
    }
    for (int i = 0; i < count; i++) {
        const uint8_t *before = (const uint8_t *)(i ? "," : "{"), *colon = (const uint8_t *)":";
        if (!append(scanner, column, before, 1)) return 0;
        if (!append(scanner, column, others[i].key - 1, others[i].key_size + 2))
            return 0; /* with its quotes */
        if (!append(scanner, column, colon, 1)) return 0;
        if (!append(scanner, column, others[i].value, others[i].value_size)) return 0;
    }
    if (!append(scanner, column, (const uint8_t *)"}", 1)) return 0;
    mark(column, table->row_count);
    return 1;
}

/* Past the object of arguments at `at`; NULL if it is odd. */
static const uint8_t *read_args(Scanner *scanner, Table *table, const uint8_t *at) {
    Other others[MOST_OTHERS];
    uint64_t used[2] = {0}; /* a bit for each column that a key was for, here and of the kinds */
    int last = 0, other_count = 0;
    const uint8_t *from = at;
    if (table->role[IN_REST] < 0) return skip_value(at, MOST_DEPTH); /* none is wanted */
    at = skip_space(at + 1);
    if (*at == '}') return at + 1;
    for (;;) {
        Other other = {0};
        if (*at != '"') return NULL;
        const uint8_t *other_key = at + 1;
        const Key *key = find_key(table, other_key, &last);
        at = key ? at + key->length + 2 : plain_text(at, &other.key, &other.key_size);
        if (!at || *(at = skip_space(at)) != ':') return NULL;
        other.value = at = skip_space(at + 1);
        int is_other = !key || key->kind == KEY_OTHER; /* which other tables have a column for */
        if (key) {
            other.key = other_key;
            other.key_size = key->length;
        }
        if (!is_other) {
            uint64_t bit = (uint64_t)1 << key->column, *seen = &used[key->kind == KEY_LABEL];
            if (*seen & bit) return NULL;
            *seen |= bit;
            if (!(at = read_known(scanner, table, key, at))) return NULL;
            is_other = table->kinds && !is_null(other.value);
        } else if (!(at = key ? skip_as_written(at) : skip_value(at, MOST_DEPTH))) {
            return NULL;
        }
        if (is_other) {
            other.value_size = at - other.value;
            if (!insert_other(others, &other_count, other)) return NULL;
        }
        at = skip_space(at);
        if (*at == '}') break;
        if (*at != ',') return NULL;
        at = skip_space(at + 1);
    }
    return put_others(scanner, table, others, other_count, from, at) ? at + 1 : NULL;
}

/* ---- events ---- */

/* Find where events of this phase and category go; 0 if nobody said. */
static int find_route(Scanner *scanner, Event *event) {
    for (int n = -1; n < scanner->route_count; n++) {
        int i = n < 0 ? scanner->last_route : n; /* mostly that of the event before */
        const Route *route = &scanner->routes[i];
        if (route->phase != (char)event->phase || route->length != event->category_size) continue;
        if (route->length && memcmp(route->category, event->category, (size_t)route->length) != 0)
            continue;
        if (route->memory_table >= 0 && event->name_escapes) return 0; /* it may spell [memory] */
        int is_memory = route->memory_table >= 0 && event->name_size == 8 &&
                        !memcmp(event->name, "[memory]", 8);
        scanner->last_route = i;
        event->route = route;
        event->route_number = i;
        event->table = &scanner->tables[is_memory ? route->memory_table : route->table];
        Table *kinds = event->table->kinds;
        return make_room(scanner, event->table) && (!kinds || make_room(scanner, kinds));
    }
    return 0;
}

/* Past a process or thread: a number, a text of digits, or a text that begins with a letter. What
 * ends with a parenthesis can be a lane of a thread, which Python knows. */
static const uint8_t *read_place(const uint8_t *at, int64_t *id, const uint8_t **name,
                                 int64_t *size) {
    if (*at != '"') return read_integer(at, id);
    if (is_digit(at[1]) || at[1] == '-') {
        at = read_integer(at + 1, id);
        return at && *at == '"' ? at + 1 : NULL;
    }
    if (!is_letter(at[1]) || !(at = plain_text(at, name, size))) return NULL;
    return (*name)[*size - 1] == ')' ? NULL : at;
}

static int is_key(const uint8_t *key, int64_t size, const char *name) {
    return (int64_t)strlen(name) == size && !memcmp(key, name, (size_t)size);
}

/* Past the value of a key of the event itself; NULL if it is odd, or none that we know. */
static const uint8_t *read_member(Scanner *scanner, Event *event, const uint8_t *key, int64_t size,
                                  const uint8_t *at) {
    unsigned bit;
    const uint8_t *text, *value = at;
    int64_t length;
    if (is_key(key, size, "ph")) {
        bit = HAS_PHASE;
        if (!(at = plain_text(at, &text, &length)) || length != 1) return NULL;
        event->phase = *text;
    } else if (is_key(key, size, "cat")) {
        bit = HAS_CATEGORY;
        at = plain_text(at, &event->category, &event->category_size);
    } else if (is_key(key, size, "name")) {
        bit = HAS_NAME;
        if (*at != '"' || !(text = text_end(at + 1, &event->name_escapes))) return NULL;
        event->name = at + 1;
        event->name_size = text - at - 1;
        at = text + 1;
    } else if (is_key(key, size, "pid")) {
        bit = HAS_PROCESS;
        at = read_place(at, &event->process_id, &event->process, &event->process_size);
    } else if (is_key(key, size, "tid")) {
        bit = HAS_THREAD;
        at = read_place(at, &event->thread_id, &event->thread, &event->thread_size);
    } else if (is_key(key, size, "ts")) {
        bit = HAS_TIME;
        at = read_nanoseconds(at, &event->time_ns);
    } else if (is_key(key, size, "dur")) {
        bit = HAS_DURATION;
        if (!(at = read_nanoseconds(at, &event->dur_ns)) || event->dur_ns < 0) return NULL;
    } else if (is_key(key, size, "id")) {
        bit = HAS_FLOW;
        at = read_integer(at, &event->flow_id);
    } else if (is_key(key, size, "s") || is_key(key, size, "bp")) { /* how a viewer draws it */
        bit = size == 1 ? HAS_SCOPE : HAS_BINDING;
        at = skip_value(at, MOST_DEPTH);
    } else if (is_key(key, size, "args")) {
        bit = HAS_ARGS;
        const unsigned needed = HAS_PHASE | HAS_NAME;
        if (*at != '{' || (event->seen & (needed | HAS_ARGS)) != needed ||
            !find_route(scanner, event))
            return NULL;
        at = read_args(scanner, event->table, at);
    } else {
        return NULL;
    }
    if (!at || (event->seen & bit)) return NULL;
    event->seen |= bit;
    if (bit & (HAS_PROCESS | HAS_THREAD)) event->has_text_place |= *value == '"';
    return at;
}

/* Whether an event has all that its route says, and nothing else. */
static int is_complete(const Event *event) {
    const unsigned all = HAS_PHASE | HAS_NAME | HAS_PROCESS | HAS_THREAD | HAS_TIME;
    int is_flow = event->table->role[IN_FLOW] >= 0;
    unsigned wanted = all | (event->route->length ? HAS_CATEGORY : 0) |
                      (event->route->has_duration ? HAS_DURATION : 0) | (is_flow ? HAS_FLOW : 0);
    if (event->has_text_place && event->table->role[IN_TRACK] < 0) return 0;
    unsigned optional =
        HAS_ARGS | (is_flow ? HAS_BINDING : 0) | (event->phase == 'i' ? HAS_SCOPE : 0);
    return (event->seen & ~optional) == wanted;
}

static int put_name(Scanner *scanner, const Event *event) {
    Table *table = event->table->kinds ? event->table->kinds : event->table;
    int at = table->role[IN_NAME];
    if (at < 0) return 1;
    if (event->name_escapes)
        return put_escaped(scanner, table, at, event->name, event->name + event->name_size);
    return put_text(scanner, table, at, event->name, event->name_size);
}

/* Put process and thread: as numbers, and what is not one as the name of the track. */
static int put_track(Scanner *scanner, const Event *event) {
    Table *table = event->table;
    if (table->role[IN_PROCESS] < 0) return 1; /* the kinds have it */
    if (!event->process && !put_integer(scanner, table, table->role[IN_PROCESS], event->process_id))
        return 0;
    if (!event->thread && !put_integer(scanner, table, table->role[IN_THREAD], event->thread_id))
        return 0;
    if (!event->process && !event->thread) return 1;
    Column *column = &table->columns[table->role[IN_TRACK]];
    if (!begin_column(scanner, table, column)) return 0;
    if (event->process && !append(scanner, column, event->process, event->process_size)) return 0;
    if (event->process && event->thread && !append(scanner, column, (const uint8_t *)"/", 1))
        return 0;
    if (event->thread && !append(scanner, column, event->thread, event->thread_size)) return 0;
    mark(column, table->row_count);
    return 1;
}

static int put_kind(Scanner *scanner, const Event *event) {
    Table *table = event->table, *kinds = table->kinds;
    uint64_t marks = 0;
    int64_t number;
    if (!kinds) return 1;
    for (int i = 0; i < table->column_count; i++)
        marks |= (uint64_t)has_value(&table->columns[i], table->row_count) << i;
    return put_integer(scanner, kinds, kinds->role[IN_PROCESS], event->process_id) &&
           put_integer(scanner, kinds, kinds->role[IN_THREAD], event->thread_id) &&
           put_integer(scanner, kinds, kinds->role[IN_ROUTE], event->route_number) &&
           put_integer(scanner, kinds, kinds->role[IN_MARKS], (int64_t)marks) &&
           find_kind(scanner, &number) && put_integer(scanner, table, table->role[IN_KIND], number);
}

static int put_event(Scanner *scanner, const Event *event, int64_t id) {
    Table *table = event->table;
    return put_integer(scanner, table, table->role[IN_ID], id) &&
           put_integer(scanner, table, table->role[IN_ROUTE], event->route_number) &&
           put_integer(scanner, table, table->role[IN_TIME], event->time_ns) &&
           (!event->route->has_duration ||
            put_integer(scanner, table, table->role[IN_DURATION], event->dur_ns)) &&
           (table->role[IN_FLOW] < 0 ||
            put_integer(scanner, table, table->role[IN_FLOW], event->flow_id)) &&
           put_name(scanner, event) && put_track(scanner, event) && put_kind(scanner, event);
}

/* Past the event at `at`, which is a row now; NULL if it is odd. */
static const uint8_t *read_event(Scanner *scanner, Event *event, const uint8_t *at, int64_t id) {
    at = skip_space(at + 1);
    for (;;) {
        const uint8_t *key;
        int64_t size;
        if (!(at = plain_text(at, &key, &size))) return NULL;
        at = skip_space(at);
        if (*at != ':') return NULL;
        if (!(at = read_member(scanner, event, key, size, skip_space(at + 1)))) return NULL;
        at = skip_space(at);
        if (*at == '}') break;
        if (*at != ',') return NULL;
        at = skip_space(at + 1);
    }
    if (!event->table) { /* no arguments: nobody asked yet where it goes */
        const unsigned needed = HAS_PHASE | HAS_NAME;
        if ((event->seen & needed) != needed || !find_route(scanner, event)) return NULL;
    }
    if (!is_complete(event) || !put_event(scanner, event, id)) return NULL;
    if (!code_texts(scanner, event->table)) return NULL;
    commit(event->table);
    return at + 1;
}

static int keep_odd(Scanner *scanner, int64_t start, int64_t end, int64_t id) {
    if (scanner->odd_count == scanner->odd_capacity) {
        int64_t capacity = scanner->odd_capacity * 2 + 64;
        int64_t *odd = grown(scanner, scanner->odd, capacity * 3 * 8);
        if (!odd) return 0;
        scanner->odd = odd;
        scanner->odd_capacity = capacity;
    }
    int64_t *place = scanner->odd + 3 * scanner->odd_count++;
    place[0] = start, place[1] = end, place[2] = id;
    return 1;
}

/* Begin anew with the texts of a coded column. */
static void forget_texts(Column *column) {
    column->text_count = column->size = 0;
    column->generation++;
    memset(column->places, 0, (size_t)column->place_count * 8);
}

static void clear_table(Table *table) {
    for (int i = 0; i < table->column_count; i++) {
        Column *column = &table->columns[i];
        if (column->known) memset(column->known, 0, (size_t)table->capacity / 8);
        column->known_count = 0;
        if (column->kind != COLUMN_CODED)
            column->size = 0;
        else if (column->text_count > MOST_TEXTS || column->size > MOST_TEXT_BYTES)
            forget_texts(column);
    }
    table->row_count = 0;
}

static void mark_tables(Scanner *scanner) {
    for (int i = 0; i < scanner->table_count; i++) {
        Table *table = &scanner->tables[i];
        table->rows_before = table->row_count;
        for (int j = 0; j < table->column_count; j++) {
            Column *column = &table->columns[j];
            column->size_before = column->size, column->known_before = column->known_count;
        }
    }
}

/* The rows of the last scan never were. Texts stay known. */
static void undo_table(Table *table) {
    int64_t end = table->row_count < table->capacity ? table->row_count + 1 : table->row_count;
    for (int i = 0; i < table->column_count; i++) {
        Column *column = &table->columns[i];
        for (int64_t row = table->rows_before; column->known && row < end; row++)
            column->known[row / 8] &= (uint8_t)~(1 << (row % 8));
        column->known_count = column->known_before;
        if (column->kind != COLUMN_CODED)
            column->size = column->size_before;
        else if (column->ends)
            column->size = column->ends[column->text_count];
    }
    table->row_count = table->rows_before;
}

/* Forget the rows of all scans. */
EXPORT void tracekit_clear(Scanner *scanner) {
    for (int i = 0; i < scanner->table_count; i++)
        if (&scanner->tables[i] != scanner->kinds.table) clear_table(&scanner->tables[i]);
}

/* Forget the rows of the last scan. */
EXPORT void tracekit_undo(Scanner *scanner) {
    for (int i = 0; i < scanner->table_count; i++)
        if (&scanner->tables[i] != scanner->kinds.table) undo_table(&scanner->tables[i]);
}

EXPORT int tracekit_is_ascii(const uint8_t *text, int64_t size) {
    uint8_t any = 0;
    for (int64_t i = 0; i < size; i++) any |= text[i];
    return any < 0x80;
}

static int scan_events(Scanner *scanner, const uint8_t *text, int64_t size, int64_t first_id,
                       int64_t *count, int64_t *place) {
    const uint8_t *at = skip_space(text);
    for (*count = 0;; ++*count) {
        Event event = {0};
        if (*at != '{') return REFUSED;
        const uint8_t *end = read_event(scanner, &event, at, first_id + *count);
        if (!end) {
            if (event.table) take_back(event.table);
            if (event.table && event.table->kinds) take_back(event.table->kinds);
            if (scanner->failed || !(end = skip_value(at, MOST_DEPTH))) return REFUSED;
            if (!keep_odd(scanner, at - text, end - text, first_id + *count)) return REFUSED;
        }
        if (end - text > size) return REFUSED;
        at = skip_space(end);
        if (*at == ',' && at - text < size) {
            at = skip_space(at + 1);
            continue;
        }
        ++*count;
        *place = at - text;
        if (*place >= size) return ALL_READ; /* what follows is another block's */
        return *at == ']' ? CLOSED : REFUSED;
    }
}

/* Read the events of a text of `size` bytes that begins with one; their ids count from `first_id`.
 * Their rows follow those of earlier scans, until `tracekit_clear`.
 *
 * ALL_READ: the text ends after an event. CLOSED: the list of events closes at `place`. REFUSED: it
 * is not sound, or memory ran out: nothing of it counts. `count` is the number of events, the odd
 * ones too.
 */
EXPORT int tracekit_scan(Scanner *scanner, const uint8_t *text, int64_t size, int64_t first_id,
                         int64_t *count, int64_t *place) {
    if (scanner->failed) return REFUSED;
    scanner->odd_count = 0;
    mark_tables(scanner);
    int found = scan_events(scanner, text, size, first_id, count, place);
    if (found == REFUSED) tracekit_undo(scanner);
    return found;
}

/* ---- what Python asks ---- */

EXPORT Scanner *tracekit_scanner(void) {
    return calloc(1, sizeof(Scanner));
}

/* Add a table; its number, or -1 if there is no room. `roles` are the columns that the event itself
 * fills, -1 where the table has none. */
EXPORT int tracekit_table(Scanner *scanner, int column_count, const int *kinds, const int *roles) {
    if (scanner->table_count == MOST_TABLES || column_count > MOST_COLUMNS) return -1;
    Table *table = &scanner->tables[scanner->table_count];
    table->column_count = column_count;
    for (int i = 0; i < column_count; i++) {
        table->columns[i].kind = kinds[i];
        if (kinds[i] == COLUMN_CODED) table->coded[table->coded_count++] = i;
        if (kinds[i] == COLUMN_TEXT) table->texts[table->text_count++] = i;
    }
    memcpy(table->role, roles, sizeof table->role);
    return scanner->table_count++;
}

/* Say which argument fills a column; 0 if there is no room. */
EXPORT int tracekit_key(Scanner *scanner, int number, const char *name, int length, int column,
                        int kind, int64_t least, int64_t most, const int64_t *none,
                        int none_count) {
    Table *table = &scanner->tables[number];
    if (table->key_count == MOST_KEYS || length >= MOST_NAME || none_count > 2) return 0;
    Key *key = &table->keys[table->key_count++];
    memcpy(key->name, name, (size_t)length);
    key->length = length, key->column = column, key->kind = kind;
    key->least = least, key->most = most, key->none_count = none_count;
    for (int i = 0; i < none_count; i++) key->none[i] = none[i];
    return 1;
}

/* Say that the texts of the events of one table are in another, with process, thread, route and
 * marks, each combination once. It lasts from scan to scan. */
EXPORT void tracekit_kinds(Scanner *scanner, int table, int kinds) {
    scanner->kinds.table = scanner->tables[table].kinds = &scanner->tables[kinds];
}

/* Forget all kinds: the next has number 0 again. */
EXPORT void tracekit_forget(Scanner *scanner) {
    clear_table(scanner->kinds.table);
    if (scanner->kinds.places)
        memset(scanner->kinds.places, 0xFF, (size_t)scanner->kinds.place_count * 4);
}

/* Say where events of a phase and category go; 0 if there is no room. */
EXPORT int tracekit_route(Scanner *scanner, int phase, const char *category, int length, int table,
                          int has_duration, int memory_table) {
    if (scanner->route_count == MOST_ROUTES || length >= MOST_NAME) return 0;
    Route *route = &scanner->routes[scanner->route_count++];
    memcpy(route->category, category, (size_t)length);
    route->phase = (char)phase, route->length = length, route->table = table;
    route->has_duration = has_duration, route->memory_table = memory_table;
    return 1;
}

EXPORT int64_t tracekit_rows(const Scanner *scanner, int table) {
    return scanner->tables[table].row_count;
}

/* How many bytes all rows take, about. */
EXPORT int64_t tracekit_bytes(const Scanner *scanner) {
    int64_t bytes = 0;
    for (int i = 0; i < scanner->table_count; i++) {
        const Table *table = &scanner->tables[i];
        for (int j = 0; j < table->column_count; j++) {
            const Column *column = &table->columns[j];
            if (column->known_count) bytes += table->row_count * (column->integers ? 8 : 4);
            if (column->kind == COLUMN_TEXT) bytes += column->size;
        }
    }
    return bytes;
}

/* The odd events of the last scan: their number; `*places` is three numbers for each. */
EXPORT int64_t tracekit_odd(const Scanner *scanner, const int64_t **places) {
    *places = scanner->odd;
    return scanner->odd_count;
}

/* Where a part of a column begins that takes `size` bytes; the next comes after it. */
static int64_t place_after(int64_t *end, int64_t size) {
    int64_t start = *end;
    *end = (start + size + PADDING - 1) / PADDING * PADDING;
    return start;
}

/* Where copies of the columns of a table are to be, from row `first` on, a multiple of 8; how many
 * bytes all take. PLACE_NUMBERS for each column: how many of all rows have a value (0: nothing is
 * copied); where its bits are (-1: every row has a value); its integers, offsets or codes; its
 * texts, and how long they are. Of a coded column, the last two are the generation of its texts,
 * and how many there are. */
EXPORT int64_t tracekit_places(const Scanner *scanner, int number, int64_t first, int64_t *found) {
    const Table *table = &scanner->tables[number];
    int64_t end = 0, count = table->row_count - first;
    for (int i = 0; i < table->column_count; i++, found += PLACE_NUMBERS) {
        const Column *column = &table->columns[i];
        if (!(found[0] = column->known_count)) continue;
        int is_full = column->known_count == table->row_count;
        found[1] = is_full ? -1 : place_after(&end, (count + 7) / 8);
        if (column->kind == COLUMN_INTEGER) {
            found[2] = place_after(&end, count * 8);
        } else if (column->kind == COLUMN_CODED) {
            found[2] = place_after(&end, count * 4);
            found[3] = column->generation, found[4] = column->text_count;
        } else {
            found[2] = place_after(&end, (count + 1) * 4);
            found[4] = column->ends[table->row_count] - column->ends[first];
            found[3] = place_after(&end, found[4] + PADDING); /* a reader looks ahead */
        }
    }
    return end;
}

/* Copy the columns of a table from row `first` on to `to`, where `tracekit_places` says. */
EXPORT void tracekit_copy(const Scanner *scanner, int number, int64_t first, const int64_t *found,
                          uint8_t *to) {
    const Table *table = &scanner->tables[number];
    int64_t count = table->row_count - first;
    for (int i = 0; i < table->column_count; i++, found += PLACE_NUMBERS) {
        const Column *column = &table->columns[i];
        if (!found[0]) continue;
        if (found[1] >= 0)
            memcpy(to + found[1], column->known + first / 8, (size_t)(count + 7) / 8);
        if (column->kind == COLUMN_INTEGER) {
            memcpy(to + found[2], column->integers + first, (size_t)count * 8);
        } else if (column->kind == COLUMN_CODED) {
            memcpy(to + found[2], column->codes + first, (size_t)count * 4);
        } else {
            int32_t begin = column->ends[first];
            for (int64_t row = 0; row <= count; row++) {
                int32_t offset = column->ends[first + row] - begin;
                memcpy(to + found[2] + 4 * row, &offset, 4);
            }
            if (found[4]) memcpy(to + found[3], column->bytes + begin, (size_t)found[4]);
            memset(to + found[3] + found[4], 0, PADDING);
        }
    }
}

/* The texts of a coded column: how many there are, and where they and their ends are. */
EXPORT int64_t tracekit_coded(const Scanner *scanner, int table, int number, int64_t *found) {
    const Column *column = &scanner->tables[table].columns[number];
    found[0] = (int64_t)(intptr_t)column->ends;
    found[1] = (int64_t)(intptr_t)column->bytes;
    return column->text_count;
}

EXPORT void tracekit_free(Scanner *scanner) {
    if (!scanner) return;
    for (int i = 0; i < scanner->table_count; i++)
        for (int j = 0; j < scanner->tables[i].column_count; j++) {
            Column *column = &scanner->tables[i].columns[j];
            free(column->known), free(column->integers), free(column->ends), free(column->bytes);
            free(column->codes), free(column->places);
        }
    free(scanner->kinds.hashes);
    free(scanner->kinds.places);
    free(scanner->odd);
    free(scanner);
}

/* ---- objects ---- */

typedef struct {
    const char *names[MOST_KEYS]; /* as in JSON, without the quotes */
    int32_t sizes[MOST_KEYS];
    int count;
} Without;

/* Write an object without some members, to `to`; the size, 0 if none is left, or -1 if it is none.
 */
static int64_t write_without(const uint8_t *at, const Without *without, uint8_t *to) {
    uint8_t *begin = to;
    int escapes = 0;
    if (*at != '{') return -1;
    while (*at != '}') {
        const uint8_t *key = ++at + 1, *end;
        int is_wanted = 1;
        if (at[0] != '"' || !(end = text_end(key, &escapes)) || end[1] != ':') return -1;
        for (int i = 0; i < without->count; i++)
            if (end - key == without->sizes[i] &&
                !memcmp(key, without->names[i], (size_t)without->sizes[i]))
                is_wanted = 0;
        if (!(end = skip_value(end + 2, MOST_DEPTH)) || (*end != ',' && *end != '}')) return -1;
        if (is_wanted) {
            *to = to == begin ? '{' : ',';
            memcpy(to + 1, at, (size_t)(end - at));
            to += end - at + 1;
        }
        at = end;
    }
    if (to == begin) return 0;
    *to = '}';
    return to + 1 - begin;
}

/* Write some of the objects that a scan made of arguments, without some members: those of `rows`,
 * one after the other. `ends` and `known` are as in Arrow; what follows the text of all objects is
 * PADDING. 0 if one is none. */
EXPORT int tracekit_without(int64_t count, const int64_t *rows, const int32_t *ends,
                            const uint8_t *texts, const Without *without, int32_t *new_ends,
                            uint8_t *known, uint8_t *to) {
    int64_t size = 0;
    new_ends[0] = 0;
    for (int64_t i = 0; i < count; i++) {
        int32_t from = ends[rows[i]], until = ends[rows[i] + 1];
        int64_t written = 0;
        if (until > from && !without->count)
            memcpy(to + size, texts + from, (size_t)(written = until - from));
        else if (until > from && (written = write_without(texts + from, without, to + size)) < 0)
            return 0;
        if (written) known[i / 8] |= (uint8_t)(1 << (i % 8));
        new_ends[i + 1] = (int32_t)(size += written);
    }
    return 1;
}

/* ---- nesting ---- */

/* Nest intervals that are in order (attribution/nesting.py, `_stacked`): for each, the one around
 * it
 * (-1: none), and the first one after its content. 0 if memory ran out. */
EXPORT int tracekit_nest(int64_t count, const int32_t *tracks, const int64_t *starts,
                         const int64_t *till, int32_t *parents, int32_t *after) {
    int32_t *open = malloc((size_t)(count + 1) * 4);
    int64_t depth = 0;
    if (!open) return 0;
    for (int64_t i = 0; i < count; i++) {
        if (i && tracks[i] != tracks[i - 1])
            while (depth) after[open[--depth]] = (int32_t)i;
        for (; depth; depth--) {
            int64_t end = till[open[depth - 1]];
            /* differences without a sign: none overflows */
            uint64_t inside = (uint64_t)end - (uint64_t)starts[i],
                     size = (uint64_t)till[i] - (uint64_t)starts[i];
            if (end > starts[i] && inside >= size / 2 + size % 2) break;
            after[open[depth - 1]] = (int32_t)i;
        }
        parents[i] = depth ? open[depth - 1] : -1;
        open[depth++] = (int32_t)i;
    }
    while (depth) after[open[--depth]] = (int32_t)count;
    free(open);
    return 1;
}

/* ---- contexts ---- */

/* What decides the context of a slice, and the context: attribution/walking.py. */
typedef struct {
    int32_t base, number, origin, is_referred, context, is_used;
} Entry;

typedef struct {
    int64_t count, next;    /* slices, and how many of them have their context */
    const int32_t *order;   /* in which they get it */
    const int32_t *parents; /* of each: the one around it, or -1 */
    const int32_t *numbers, *forwards;
    const uint8_t *are_ops, *are_referred;
    int32_t *ops, *contexts;
    Entry *entries; /* a hash table: an entry is at its place, or at the next free one */
    int64_t entry_count, capacity;
    Entry asked;
} Walker;

static uint64_t hash_of(const Entry *entry) {
    uint64_t hash = (uint32_t)entry->base * 0x9E3779B97F4A7C15u;
    hash = (hash ^ (hash >> 29) ^ (uint32_t)entry->number) * 0xBF58476D1CE4E5B9u;
    hash = (hash ^ (hash >> 32) ^ (uint32_t)entry->origin) * 0x94D049BB133111EBu;
    hash = (hash ^ (hash >> 31) ^ (uint32_t)entry->is_referred) * 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 32);
}

/* The place of an entry: where it is, or where it would be. */
static Entry *place_of(const Walker *walker, const Entry *wanted) {
    uint64_t mask = (uint64_t)walker->capacity - 1, at = hash_of(wanted) & mask;
    for (;; at = (at + 1) & mask) {
        Entry *entry = &walker->entries[at];
        if (!entry->is_used ||
            (entry->base == wanted->base && entry->number == wanted->number &&
             entry->origin == wanted->origin && entry->is_referred == wanted->is_referred))
            return entry;
    }
}

/* Twice the room, so that half of it stays free; 0 if memory ran out. */
static int make_entries(Walker *walker) {
    if (walker->entry_count * 2 < walker->capacity) return 1;
    Walker larger = *walker;
    larger.capacity = walker->capacity ? walker->capacity * 2 : 1024;
    larger.entries = calloc((size_t)larger.capacity, sizeof(Entry));
    if (!larger.entries) return 0;
    for (int64_t i = 0; i < walker->capacity; i++)
        if (walker->entries[i].is_used)
            *place_of(&larger, &walker->entries[i]) = walker->entries[i];
    free(walker->entries);
    *walker = larger;
    return 1;
}

static void put_context(const Walker *walker, int64_t place, int32_t context) {
    int32_t above = walker->parents[place];
    walker->contexts[place] = context;
    walker->ops[place] = walker->are_ops[place] ? (int32_t)place
                         : above >= 0           ? walker->ops[above]
                                                : -1;
}

/* Begin a walk; the columns are of `count` rows, `ops` and `contexts` are for its result and hold
 * zeros. */
EXPORT Walker *tracekit_walker(int64_t count, const int32_t *order, const int32_t *parents,
                               const int32_t *numbers, const int32_t *forwards,
                               const uint8_t *are_ops, const uint8_t *are_referred, int32_t *ops,
                               int32_t *contexts) {
    Walker *walker = calloc(1, sizeof(Walker));
    if (!walker) return NULL;
    walker->count = count, walker->order = order, walker->parents = parents;
    walker->numbers = numbers, walker->forwards = forwards;
    walker->are_ops = are_ops, walker->are_referred = are_referred;
    walker->ops = ops, walker->contexts = contexts;
    return walker;
}

/* Walk on: 0 at the end, -1 if memory ran out, 1 where Python must say which context it is
 * (tracekit_enter) for the four numbers in `asked`. */
EXPORT int tracekit_walk(Walker *walker, int32_t *asked) {
    if (!make_entries(walker)) return -1;
    for (; walker->next < walker->count; walker->next++) {
        int64_t place = walker->order[walker->next];
        int32_t above = walker->parents[place], forward = walker->forwards[place];
        Entry wanted = {0};
        wanted.base = above >= 0 ? walker->contexts[above] : -1;
        wanted.number = walker->numbers[place];
        wanted.origin = forward >= 0 ? walker->contexts[forward] : forward;
        wanted.is_referred = walker->are_referred[place] != 0;
        const Entry *known = place_of(walker, &wanted);
        if (!known->is_used) {
            walker->asked = wanted;
            asked[0] = wanted.base, asked[1] = wanted.number;
            asked[2] = wanted.origin, asked[3] = wanted.is_referred;
            return 1;
        }
        put_context(walker, place, known->context);
    }
    return 0;
}

/* The context that was asked for, of this slice, and of all like it if it is lasting. */
EXPORT void tracekit_enter(Walker *walker, int32_t context, int is_lasting) {
    put_context(walker, walker->order[walker->next++], context);
    if (!is_lasting) return;
    walker->asked.context = context, walker->asked.is_used = 1;
    *place_of(walker, &walker->asked) = walker->asked;
    walker->entry_count++;
}

EXPORT void tracekit_free_walker(Walker *walker) {
    if (!walker) return;
    free(walker->entries);
    free(walker);
}

/* ---- lines that are like earlier ones ---- */

/* parsers/perf_stat/known.py says what this does; it does the same for a block of lines.
 *
 * A line is cut into fields: at a separator, or at its numbers. Some fields are cells (a time, a
 * value, metrics); the others are fixed, and determine the series that the cells belong to. Python
 * reads the first line of its kind and says what it is: a layout, its fixed fields and its series.
 * A line that is like none, or whose cells are not in the form of their kind, has no rows here, and
 * Python reads it.
 */
enum { MOST_FIELDS = 256, MOST_CELLS = 80, MOST_MARK = 48, MOST_PLAIN = 32, MOST_POWER = 22 };
/* What a cell is for. */
enum { CELL_VALUE, CELL_TIME, CELL_SHARE, CELL_RUN, CELL_ERROR, CELL_METRIC };
/* The texts of a row, in this order; a metric has the first only. */
enum { TEXT_VALUE, TEXT_SHARE, TEXT_RUN, TEXT_ERROR, ROW_TEXTS };
/* How a cell is written; see `Form` in known.py. */
enum {
    FORM_TIME,
    FORM_SHORT_TIME,
    FORM_COUNT,
    FORM_SHARE,
    FORM_NUMBER,
    FORM_VALUE,
    FORM_METRIC,
    FORM_BARE,
    FORM_PLAIN,
    FORM_PLAIN_VALUE
};

typedef struct {
    int at, use, form, before_size, behind_size; /* a field is `before`, the cell, `behind` */
    uint8_t before[MOST_MARK], behind[MOST_MARK];
} Cell;

/* The fixed fields of a line, each with a line feed behind it, and where its numbers are: the
 * series of its event and of each metric, and the power of ten of each. */
typedef struct {
    uint64_t hash;
    int64_t key, size, first; /* first < 0: a free place */
} Kind;

typedef struct {
    int field_count, cell_count, metric_count;
    uint8_t is_cell[MOST_FIELDS];
    Cell cells[MOST_CELLS];
    Kind *kinds; /* a hash table: a kind is at its place, or at the next free one */
    int64_t kind_count, kind_capacity;
    uint8_t *keys;
    int64_t key_size, key_capacity;
    int64_t *numbers;
    int64_t number_count, number_capacity;
} Layout;

/* How the lines of a format are cut, and its numbers written. */
typedef struct {
    const uint8_t *separator; /* NULL: lines are cut at their numbers */
    int64_t separator_size;
    const uint8_t *share; /* that of lines without one; or NULL */
    int64_t share_size;
    int32_t point, group; /* the characters of numbers: before decimals, and between thousands */
} Lines;

/* What the lines of a block give. Python has made the room: for lines and rows as many as it says,
 * for each text as long as the block. */
typedef struct {
    int64_t line_capacity, row_capacity;
    int64_t *line_ends, *times, *starts; /* by line; the rows of line i begin at starts[i] */
    int64_t *series;                     /* by row */
    double *numbers[ROW_TEXTS];          /* of texts that are plain; or NaN */
    int32_t *ends[ROW_TEXTS];            /* of texts: as those of a column above */
    uint8_t *bytes[ROW_TEXTS], *known[ROW_TEXTS];
    int64_t known_count[ROW_TEXTS]; /* after the lines are read */
    int64_t line_count, row_count;
} LineRows;

typedef struct {
    const uint8_t *from, *to;
} Field;

static uint64_t hash_of_key(const uint8_t *key, int64_t size) {
    const uint8_t *end = key + size;
    uint64_t hash = 0;
    while (key < end) {
        const uint8_t *feed = memchr(key, '\n', (size_t)(end - key));
        hash = hash_with(hash, key, feed);
        key = feed + 1;
    }
    return hash;
}

static Kind *free_place(const Layout *layout, uint64_t hash) {
    uint64_t mask = (uint64_t)layout->kind_capacity - 1, at = hash & mask;
    while (layout->kinds[at].first >= 0) at = (at + 1) & mask;
    return &layout->kinds[at];
}

/* Room in an array for `more` elements of `width` bytes; 0 if memory ran out. */
static int has_room(void **array, int64_t *capacity, int64_t count, int64_t more, size_t width) {
    if (count + more <= *capacity) return 1;
    int64_t larger = (count + more) * 2 + 256;
    void *memory = realloc(*array, (size_t)larger * width);
    if (!memory) return 0;
    *array = memory;
    *capacity = larger;
    return 1;
}

/* Twice the places, so that half of them stay free; 0 if memory ran out. */
static int make_kinds(Layout *layout) {
    if (layout->kind_count * 2 < layout->kind_capacity) return 1;
    Layout larger = *layout;
    larger.kind_capacity = layout->kind_capacity ? layout->kind_capacity * 2 : 256;
    larger.kinds = calloc((size_t)larger.kind_capacity, sizeof(Kind));
    if (!larger.kinds) return 0;
    for (int64_t i = 0; i < larger.kind_capacity; i++) larger.kinds[i].first = -1;
    for (int64_t i = 0; i < layout->kind_capacity; i++)
        if (layout->kinds[i].first >= 0)
            *free_place(&larger, layout->kinds[i].hash) = layout->kinds[i];
    free(layout->kinds);
    layout->kinds = larger.kinds;
    layout->kind_capacity = larger.kind_capacity;
    return 1;
}

EXPORT Layout *tracekit_layout(int field_count) {
    Layout *layout = field_count <= MOST_FIELDS ? calloc(1, sizeof(Layout)) : NULL;
    if (layout) layout->field_count = field_count;
    return layout;
}

EXPORT void tracekit_free_layout(Layout *layout) {
    if (!layout) return;
    free(layout->kinds), free(layout->keys), free(layout->numbers);
    free(layout);
}

/* Add a cell, those of metrics in their order; 0 if there is no room. */
EXPORT int tracekit_cell(Layout *layout, int at, int use, int form, const char *before,
                         int before_size, const char *behind, int behind_size) {
    if (layout->cell_count == MOST_CELLS || at < 0 || at >= layout->field_count) return 0;
    if (before_size > MOST_MARK || behind_size > MOST_MARK) return 0;
    Cell *cell = &layout->cells[layout->cell_count++];
    cell->at = at, cell->use = use, cell->form = form;
    cell->before_size = before_size, cell->behind_size = behind_size;
    memcpy(cell->before, before, (size_t)before_size);
    memcpy(cell->behind, behind, (size_t)behind_size);
    layout->is_cell[at] = 1;
    layout->metric_count += use == CELL_METRIC;
    return 1;
}

/* Learn that lines with these fixed fields have these series, each with its power; 0 if memory ran
 * out. */
EXPORT int tracekit_learn(Layout *layout, const char *key, int64_t size, const int64_t *numbers) {
    int64_t count = 2 * (1 + (int64_t)layout->metric_count);
    uint64_t hash = hash_of_key((const uint8_t *)key, size);
    for (int64_t i = 0; i < layout->kind_capacity; i++) {
        const Kind *kind =
            &layout->kinds[(hash + (uint64_t)i) & ((uint64_t)layout->kind_capacity - 1)];
        if (kind->first < 0) break;
        if (kind->hash != hash || kind->size != size) continue;
        if (memcmp(layout->keys + kind->key, key, (size_t)size) != 0) continue;
        memcpy(layout->numbers + kind->first, numbers, (size_t)count * 8);
        return 1;
    }
    if (!make_kinds(layout) ||
        !has_room((void **)&layout->keys, &layout->key_capacity, layout->key_size, size, 1) ||
        !has_room((void **)&layout->numbers, &layout->number_capacity, layout->number_count, count,
                  8))
        return 0;
    Kind *kind = free_place(layout, hash);
    kind->hash = hash, kind->key = layout->key_size, kind->size = size;
    kind->first = layout->number_count;
    memcpy(layout->keys + kind->key, key, (size_t)size);
    memcpy(layout->numbers + kind->first, numbers, (size_t)count * 8);
    layout->key_size += size;
    layout->number_count += count;
    layout->kind_count++;
    return 1;
}

/* -- a line in fields -- */

/* Cut a line at a separator; the number of fields, or 0 if there are too many. */
static int cut_at(const Lines *lines, const uint8_t *at, const uint8_t *end, Field *fields) {
    const uint8_t first = lines->separator[0];
    int count = 0;
    fields[0].from = at;
    while (at < end) {
        if (*at != first || end - at < lines->separator_size ||
            memcmp(at, lines->separator, (size_t)lines->separator_size) != 0) {
            at++;
            continue;
        }
        fields[count++].to = at;
        if (count == MOST_FIELDS) return 0;
        fields[count].from = at += lines->separator_size;
    }
    fields[count].to = end;
    return count + 1;
}

static int is_of_number(uint8_t byte) {
    return is_digit(byte) || byte == '.' || byte == ',';
}

/* Past a number on its own at `at`, or one of perf's words in place of it; NULL if there is none.
 */
static const uint8_t *lone_number(const uint8_t *at, const uint8_t *end) {
    static const char *const words[] = {"<not counted>", "<not supported>"};
    const uint8_t *from = at;
    if (at < end && *at == '<') {
        for (int i = 0; i < 2 && at == from; i++) {
            int64_t size = (int64_t)strlen(words[i]);
            if (end - at >= size && !memcmp(at, words[i], (size_t)size)) at += size;
        }
        if (at == from) return NULL;
    } else {
        if (at == end || !is_digit(*at)) return NULL;
        while (at < end && is_of_number(*at)) at++;
        if (!is_digit(at[-1]) || at - from > MOST_PLAIN) return NULL;
    }
    return at == end || *at == '%' || *at == ' ' || *at == ')' ? at : NULL;
}

/* Cut a line at its numbers, as `_CUT` in textrows.py does: each second field is a number, without
 * the blanks before it but one. The number of fields, or 0 if there are too many. */
static int cut_at_numbers(const uint8_t *start, const uint8_t *end, Field *fields) {
    const uint8_t *at = start;
    int count = 0;
    fields[0].from = at;
    while (at <= end) {
        const uint8_t *from = at, *past;
        int is_mark = at < end && (*at == ' ' || *at == '(');
        if (!is_mark && at != start) {
            at++;
            continue;
        }
        if (at == start) /* nothing must be before a number that begins the line */
            while (from < end && *from == ' ') from++;
        past = at == start ? lone_number(from, end) : NULL;
        if (past) {
            fields[count].to = at;
        } else {
            if (!is_mark) {
                at++;
                continue;
            }
            for (from = at + 1; from < end && *from == ' ';) from++;
            past = lone_number(from, end);
            if (!past) {
                at = from;
                continue;
            }
            fields[count].to = at + 1;
        }
        if (count + 2 >= MOST_FIELDS) return 0;
        fields[count + 1].from = from, fields[count + 1].to = past;
        count += 2;
        fields[count].from = past;
        at = past < end ? past + 1 : past; /* what is behind a number is before no other */
        if (past == end) break;
    }
    fields[count].to = end;
    return count + 1;
}

/* -- cells -- */

static const uint8_t *digits_end(const uint8_t *at, const uint8_t *end) {
    while (at < end && is_digit(*at)) at++;
    return at;
}

/* Past digits, a mark and decimals, as many as said; NULL if it is not so to the end. */
static int is_decimal(const uint8_t *at, const uint8_t *end, int most_whole, int is_optional,
                      int least_decimals, int most_decimals) {
    const uint8_t *mark = digits_end(at, end);
    if (mark == at || (most_whole && mark - at > most_whole)) return 0;
    if (mark == end) return is_optional;
    if (*mark != '.' && *mark != ',') return 0;
    const uint8_t *last = digits_end(mark + 1, end);
    int64_t count = last - mark - 1;
    return last == end && count >= least_decimals && (!most_decimals || count <= most_decimals);
}

static int is_word(const uint8_t *at, const uint8_t *end) {
    return at < end && *at == '<' && lone_number(at, end) == end;
}

static int has_comma(const uint8_t *at, const uint8_t *end) {
    return memchr(at, ',', (size_t)(end - at)) != NULL;
}

/* Whether zeros only begin a number that is less than one. */
static int is_bare(const uint8_t *at, const uint8_t *end) {
    return !has_comma(at, end) && (end - at < 2 || at[0] != '0' || at[1] == '.');
}

/* Whether a cell is written as its kind is. */
static int is_in_form(int form, const uint8_t *at, const uint8_t *end) {
    switch (form) {
    case FORM_TIME:
        while (at < end && *at == ' ') at++;
        return is_decimal(at, end, 9, 0, 9, 9) && !has_comma(at, end);
    case FORM_SHORT_TIME: return is_decimal(at, end, 9, 0, 1, 9) && is_bare(at, end);
    case FORM_COUNT: return at < end && digits_end(at, end) == end;
    case FORM_SHARE: return is_decimal(at, end, 3, 0, 2, 2);
    case FORM_VALUE:
        if (is_word(at, end)) return 1; /* fall through */
    case FORM_NUMBER: return is_decimal(at, end, 0, 1, 1, 0);
    case FORM_METRIC: return at == end || is_decimal(at, end, 0, 1, 1, 0);
    case FORM_BARE: return is_decimal(at, end, 0, 1, 1, 0) && is_bare(at, end);
    case FORM_PLAIN_VALUE:
        if (is_word(at, end)) return 1; /* fall through */
    default: return at < end && is_digit(*at) && lone_number(at, end) == end;
    }
}

static int64_t nanoseconds_of(const uint8_t *at, const uint8_t *end) {
    int64_t sum = 0;
    int decimals = -1;
    for (; at < end; at++) {
        if (*at == '.') decimals = 0;
        if (!is_digit(*at)) continue;
        sum = sum * 10 + (*at - '0');
        if (decimals >= 0) decimals++;
    }
    for (; decimals < 9; decimals++) sum *= 10;
    return sum;
}

/* A number times a power of ten, rounded once: an integer that is exact, times or by a power that
 * is exact. NaN if it is not plain: then Python reads its text. */
static double number_of(const Lines *lines, const uint8_t *at, const uint8_t *end, int64_t power) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const double none = (double)NAN;
    uint64_t sum = 0;
    int digits = 0, run = 0, decimals = 0, has_point = 0, is_grouped = 0;
    for (; at < end; at++) {
        if (is_digit(*at)) {
            if (++digits > 18) return none;
            sum = sum * 10 + (uint64_t)(*at - '0');
            run++;
            decimals += has_point;
        } else if (*at == lines->group && !has_point && run && run <= 3 &&
                   (run == 3 || !is_grouped)) {
            is_grouped = 1;
            run = 0;
        } else if (*at == lines->point && !has_point && run && (run == 3 || !is_grouped)) {
            has_point = 1;
            run = 0;
        } else {
            return none;
        }
    }
    if (!run || (is_grouped && !has_point && run != 3)) return none;
    while (sum >> 53 && decimals && sum % 10 == 0) {
        sum /= 10;
        decimals--;
    }
    int64_t shift = decimals - power;
    if (sum >> 53 || shift > MOST_POWER || shift < -MOST_POWER) return none;
    return shift >= 0 ? (double)sum / powers[shift] : (double)sum * powers[-shift];
}

/* -- lines -- */

/* The numbers of a kind of lines with these fields; NULL if it is none of this layout. */
static const int64_t *numbers_of(const Layout *layout, const Field *fields) {
    uint64_t hash = 0, mask = (uint64_t)layout->kind_capacity - 1;
    if (!layout->kind_capacity) return NULL;
    for (int i = 0; i < layout->field_count; i++)
        if (!layout->is_cell[i]) hash = hash_with(hash, fields[i].from, fields[i].to);
    for (uint64_t place = hash & mask;; place = (place + 1) & mask) {
        const Kind *kind = &layout->kinds[place];
        if (kind->first < 0) return NULL;
        if (kind->hash != hash) continue;
        const uint8_t *key = layout->keys + kind->key, *end = key + kind->size;
        int i = 0;
        for (; i < layout->field_count; i++) {
            int64_t size = fields[i].to - fields[i].from;
            if (layout->is_cell[i]) continue;
            if (end - key <= size || memcmp(key, fields[i].from, (size_t)size) != 0) break;
            if (key[size] != '\n') break;
            key += size + 1;
        }
        if (i == layout->field_count && key == end) return layout->numbers + kind->first;
    }
}

/* The cell in a field; 0 if what is around it is not so, or it is not in its form. */
static int find_cell(const Cell *cell, const Field *field, Field *found) {
    int64_t size = field->to - field->from - cell->before_size - cell->behind_size;
    if (size < 0 || memcmp(field->from, cell->before, (size_t)cell->before_size) != 0 ||
        memcmp(field->to - cell->behind_size, cell->behind, (size_t)cell->behind_size) != 0)
        return 0;
    found->from = field->from + cell->before_size;
    found->to = found->from + size;
    return is_in_form(cell->form, found->from, found->to);
}

static void put_row_text(LineRows *rows, int text, const uint8_t *from, int64_t size,
                         double number) {
    int64_t row = rows->row_count;
    memcpy(rows->bytes[text] + rows->ends[text][row], from, (size_t)size);
    rows->ends[text][row + 1] = rows->ends[text][row] + (int32_t)size;
    rows->known[text][row / 8] |= (uint8_t)(1 << (row % 8));
    rows->known_count[text]++;
    rows->numbers[text][row] = number;
}

static void begin_row(LineRows *rows, int64_t series) {
    int64_t row = rows->row_count;
    rows->series[row] = series;
    for (int i = 0; i < ROW_TEXTS; i++) {
        rows->ends[i][row + 1] = rows->ends[i][row];
        rows->numbers[i][row] = (double)NAN;
    }
}

/* Put the rows of a line: of its event, and of each metric that has a series. */
static void put_line(const Lines *lines, LineRows *rows, const Layout *layout,
                     const int64_t *numbers, const Field *found) {
    const int64_t *powers = numbers + 1 + layout->metric_count;
    int metric = 0, has_share = lines->share == NULL;
    begin_row(rows, numbers[0]);
    for (int i = 0; i < layout->cell_count; i++) {
        const uint8_t *from = found[i].from, *to = found[i].to;
        int use = layout->cells[i].use;
        if (use == CELL_TIME) {
            rows->times[rows->line_count] = nanoseconds_of(from, to);
        } else if (use != CELL_METRIC) {
            int text = use == CELL_VALUE   ? TEXT_VALUE
                       : use == CELL_SHARE ? TEXT_SHARE
                       : use == CELL_RUN   ? TEXT_RUN
                                           : TEXT_ERROR;
            int64_t power = use == CELL_VALUE ? powers[0] : use == CELL_RUN ? 0 : -2;
            has_share |= use == CELL_SHARE;
            put_row_text(rows, text, from, to - from, number_of(lines, from, to, power));
        }
    }
    if (!has_share)
        put_row_text(rows, TEXT_SHARE, lines->share, lines->share_size,
                     number_of(lines, lines->share, lines->share + lines->share_size, -2));
    rows->row_count++;
    for (int i = 0; i < layout->cell_count; i++) {
        if (layout->cells[i].use != CELL_METRIC || numbers[++metric] < 0) continue;
        const uint8_t *from = found[i].from, *to = found[i].to;
        begin_row(rows, numbers[metric]);
        put_row_text(rows, TEXT_VALUE, from, to - from, number_of(lines, from, to, powers[metric]));
        rows->row_count++;
    }
}

/* Find the cells of a line; 0 if one is not in its form. A metric without a name (-1) is blank. */
static int find_cells(const Layout *layout, const int64_t *numbers, const Field *fields,
                      Field *found) {
    int metric = 0;
    for (int i = 0; i < layout->cell_count; i++) {
        const Cell *cell = &layout->cells[i];
        if (!find_cell(cell, &fields[cell->at], &found[i])) return 0;
        if (cell->use == CELL_METRIC && numbers[++metric] == -1 && found[i].from < found[i].to)
            return 0;
    }
    return 1;
}

/* Put the rows of one line, if it is like an earlier one. */
static void read_line(const Lines *lines, const Layout *const *layouts, int layout_count,
                      LineRows *rows, const uint8_t *at, const uint8_t *end) {
    Field fields[MOST_FIELDS], found[MOST_CELLS];
    const int64_t *numbers = NULL;
    const Layout *layout = NULL;
    while (end > at && end[-1] == '\r') end--;
    if (!lines->separator && memchr(at, 0x1F, (size_t)(end - at))) return; /* Python's mark */
    int count = lines->separator ? cut_at(lines, at, end, fields) : cut_at_numbers(at, end, fields);
    for (int i = 0; i < layout_count && !numbers; i++) {
        layout = layouts[i];
        if (layout->field_count == count) numbers = numbers_of(layout, fields);
    }
    if (numbers && find_cells(layout, numbers, fields, found))
        put_line(lines, rows, layout, numbers, found);
}

/* Read the lines of a text; the last one may have no line feed. It ends early where there is no
 * more room. */
EXPORT void tracekit_lines(const Lines *lines, const Layout *const *layouts, int layout_count,
                           const uint8_t *text, int64_t size, LineRows *rows) {
    const uint8_t *at = text, *end = text + size;
    int64_t most_rows = 1;
    for (int i = 0; i < layout_count; i++)
        if (layouts[i]->metric_count >= most_rows) most_rows = layouts[i]->metric_count + 1;
    rows->line_count = rows->row_count = 0;
    rows->starts[0] = 0;
    for (int i = 0; i < ROW_TEXTS; i++) rows->ends[i][0] = 0, rows->known_count[i] = 0;
    while (at <= end && rows->line_count < rows->line_capacity &&
           rows->row_count + most_rows <= rows->row_capacity) {
        const uint8_t *feed = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        if (!feed) feed = end;
        rows->times[rows->line_count] = -1;
        read_line(lines, layouts, layout_count, rows, at, feed);
        rows->line_ends[rows->line_count++] = feed - text;
        rows->starts[rows->line_count] = rows->row_count;
        at = feed + 1;
    }
}

/* ---- the events of an XSpace ---- */

/* parsers/tensorflow_profiler/wire.py does the same for any message: here are the events and stats
 * of a sound dump only, and what else there is (damage, unknown fields) is refused. */
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2, MOST_VARINT = 10 };
enum { EVENT_STAT = 4, EVENT_FIELDS = 6, STAT_KEY = 1, STAT_KINDS = 8 };
enum { MOST_EVENT_FIELDS = 1 << 12, MOST_GROUPS = 1 << 11, GROUP_PLACES = 1 << 12 };
static const uint8_t LINE_EVENT_TAG = 4 << 3 | WIRE_LENGTH;
static const uint64_t MOST_KEY = (uint64_t)1 << 60;

/* Past a number; NULL if it does not end before `end`, or has more than 64 bits. */
static const uint8_t *read_varint(const uint8_t *at, const uint8_t *end, uint64_t *value) {
    uint64_t sum = 0;
    for (int i = 0; i < MOST_VARINT && at < end; i++) {
        uint8_t byte = *at++;
        if (i == MOST_VARINT - 1 && byte > 1) return NULL;
        sum |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (byte < 0x80) {
            *value = sum;
            return at;
        }
    }
    return NULL;
}

/* Past a field, whose number, kind and value (the size of a long one, whose content ends at what is
 * returned) are told; NULL if it is not sound. */
static const uint8_t *read_field(const uint8_t *at, const uint8_t *end, uint64_t *number, int *kind,
                                 uint64_t *value) {
    uint64_t tag;
    if (!(at = read_varint(at, end, &tag))) return NULL;
    *number = tag >> 3;
    *kind = (int)(tag & 7);
    if (*kind == WIRE_VARINT) return read_varint(at, end, value);
    if (*kind == WIRE_FIXED64) {
        if (end - at < 8) return NULL;
        *value = 0;
        for (int i = 0; i < 8; i++) *value |= (uint64_t)at[i] << (8 * i);
        return at + 8;
    }
    if (*kind != WIRE_LENGTH || !(at = read_varint(at, end, value))) return NULL;
    return *value <= (uint64_t)(end - at) ? at + *value : NULL;
}

/* Find the events of a line that follow one another at `place`: where their contents begin and end,
 * at most so many. `*stop` is where another field is, or the end. */
EXPORT int64_t tracekit_line_events(const uint8_t *content, int64_t place, int64_t end,
                                    int64_t most, int64_t *starts, int64_t *ends, int64_t *stop) {
    const uint8_t *at = content + place, *last = content + end;
    int64_t count = 0;
    while (count < most && at < last && *at == LINE_EVENT_TAG) {
        uint64_t size;
        const uint8_t *body = read_varint(at + 1, last, &size);
        if (!body || size > (uint64_t)(last - body)) break;
        at = body + size;
        starts[count] = body - content;
        ends[count++] = at - content;
    }
    *stop = at - content;
    return count;
}

/* What the fields of some events are; all memory is Python's. A stat is in the group of its code:
 * its key, and the field that its value is in. */
typedef struct {
    uint64_t *numbers[EVENT_FIELDS]; /* of the events, by field: 1, 2, 3 and 5 */
    int64_t stat_capacity, stat_count;
    int32_t *stat_groups, *stat_events; /* as they come */
    uint64_t *stat_values;
    int64_t *stat_places;
    int64_t group_count;
    uint64_t *codes;       /* by group */
    int64_t *sizes;        /* how many stats a group has */
    int32_t *orders;       /* the first place among the fields of an event where it is */
    int32_t *firsts;       /* by place: the group of the first event that has a stat there */
    int32_t *places;       /* a hash table of groups: GROUP_PLACES, of -1 at first */
    int64_t *rows;         /* the events of stats, in the order of their groups; then */
    uint64_t *values;      /* their values */
    int64_t *value_places; /* and where these are */
} EventFields;

/* The group of a code; -1 if there is no room for another. */
static int group_of(EventFields *fields, uint64_t code) {
    uint64_t mask = GROUP_PLACES - 1, at = mixed(0, code) & mask;
    for (; fields->places[at] >= 0; at = (at + 1) & mask)
        if (fields->codes[fields->places[at]] == code) return fields->places[at];
    if (fields->group_count == MOST_GROUPS) return -1;
    int group = (int)fields->group_count++;
    fields->places[at] = group;
    fields->codes[group] = code;
    fields->sizes[group] = 0;
    fields->orders[group] = MOST_EVENT_FIELDS;
    return group;
}

/* Read a stat, which is the field `order` of its event; 0 if it is not sound. */
static int read_stat(EventFields *fields, const uint8_t *content, const uint8_t *at,
                     const uint8_t *end, int32_t event, int order) {
    static const int kinds[STAT_KINDS] = {-1,          -1,          WIRE_FIXED64, WIRE_VARINT,
                                          WIRE_VARINT, WIRE_LENGTH, WIRE_LENGTH,  WIRE_VARINT};
    uint64_t key = 0, found = 0, value = 0, number, read;
    const uint8_t *place = at;
    for (int count = 0; at < end; count++) {
        int kind;
        if (count == MOST_EVENT_FIELDS) return 0;
        if (!(at = read_field(at, end, &number, &kind, &read))) return 0;
        if (number == STAT_KEY && kind == WIRE_VARINT) {
            key = read < MOST_KEY ? read : MOST_KEY;
        } else if (number < STAT_KINDS && kind == kinds[number]) {
            found = number;
            value = read;
            place = kind == WIRE_LENGTH ? at - read : at;
        } else {
            return 0;
        }
    }
    int group = group_of(fields, key * STAT_KINDS + found);
    if (group < 0 || fields->stat_count == fields->stat_capacity) return 0;
    if (fields->orders[group] > order) fields->orders[group] = order;
    if (fields->firsts[order] < 0) fields->firsts[order] = group;
    int64_t stat = fields->stat_count++;
    fields->stat_groups[stat] = group;
    fields->stat_events[stat] = event;
    fields->stat_values[stat] = value;
    fields->stat_places[stat] = place - content;
    fields->sizes[group]++;
    return 1;
}

static int read_event_fields(EventFields *fields, const uint8_t *content, const uint8_t *at,
                             const uint8_t *end, int32_t event) {
    for (int order = 0; at < end; order++) {
        uint64_t number, value;
        int kind;
        if (order == MOST_EVENT_FIELDS) return 0;
        if (!(at = read_field(at, end, &number, &kind, &value))) return 0;
        if (number == EVENT_STAT && kind == WIRE_LENGTH) {
            if (!read_stat(fields, content, at - value, at, event, order)) return 0;
        } else if (number && number < EVENT_FIELDS && number != EVENT_STAT && kind == WIRE_VARINT) {
            fields->numbers[number][event] = value;
        } else {
            return 0;
        }
    }
    return 1;
}

/* Put the stats in the order of their groups, and those of a group in the order of the events. */
static void put_in_groups(EventFields *fields) {
    int64_t next = 0;
    for (int64_t i = 0; i < fields->group_count; i++) {
        int64_t size = fields->sizes[i];
        fields->sizes[i] = next;
        next += size;
    }
    for (int64_t i = 0; i < fields->stat_count; i++) {
        int64_t to = fields->sizes[fields->stat_groups[i]]++;
        fields->rows[to] = fields->stat_events[i];
        fields->values[to] = fields->stat_values[i];
        fields->value_places[to] = fields->stat_places[i];
    } /* now the size of each group is where it ends */
}

/* Read the fields of events, whose contents begin and end there; 0 if one is not sound. */
EXPORT int tracekit_event_fields(const uint8_t *content, int64_t count, const int64_t *starts,
                                 const int64_t *ends, EventFields *fields) {
    for (int64_t i = 0; i < count; i++)
        if (!read_event_fields(fields, content, content + starts[i], content + ends[i], (int32_t)i))
            return 0;
    put_in_groups(fields);
    return 1;
}

/* Put texts of a content one after the other; `offsets` are those of a column as above. */
EXPORT void tracekit_texts(const uint8_t *content, int64_t count, const int64_t *places,
                           const uint64_t *sizes, int32_t *offsets, uint8_t *bytes) {
    offsets[0] = 0;
    for (int64_t i = 0; i < count; i++) {
        memcpy(bytes + offsets[i], content + places[i], (size_t)sizes[i]);
        offsets[i + 1] = offsets[i] + (int32_t)sizes[i];
    }
}

/* ---- cells of a table ---- */

enum { MOST_DIGITS = 15, MOST_DECIMALS = 9, GROUPED = 16, PLAIN = 32 };

/* Read a number as PlainDigits of reading/text/plain_numbers.py does: 1,234.50 is 123450, and its
 * shape says two decimals and separated thousands. 0 if the cell is anything else. */
static int read_plain(const uint8_t *at, const uint8_t *end, int64_t *digits) {
    const uint8_t *start = at;
    int64_t value = 0;
    int count = 0, since = 0, groups = 0, decimals = 0;
    for (; at < end && *at != '.'; at++) {
        if (is_digit(*at)) {
            if (count == MOST_DIGITS) return 0;
            value = value * 10 + (*at - '0');
            count++, since++;
            continue;
        }
        if (*at != ',' || !since || since > 3 || (groups && since != 3)) return 0;
        groups++, since = 0;
    }
    if (!count || (groups && since != 3) || (*start == '0' && at - start > 1)) return 0;
    if (at < end) {
        for (at++; at < end && is_digit(*at); at++) {
            if (count == MOST_DIGITS || decimals == MOST_DECIMALS) return 0;
            value = value * 10 + (*at - '0');
            count++, decimals++;
        }
        if (at < end || !decimals) return 0;
    }
    *digits = value;
    return PLAIN | (groups ? GROUPED : 0) | decimals;
}

enum { CELLS_OTHER, CELLS_READ, CELLS_WITH_QUOTES };

/* Where a quoted cell ends: at the first quote that is not doubled, which `*found` tells of; NULL
 * if a character comes that needs care. */
static const uint8_t *cell_end(const uint8_t *at, const uint8_t *end, int *found) {
    for (; at < end; at++) {
        if (*at == '"') {
            if (end - at < 2 || at[1] != '"') return at;
            *found = CELLS_WITH_QUOTES;
            at++;
        } else if (*at == '\n' || *at == '\r' || !*at) {
            return NULL;
        }
    }
    return NULL;
}

/* What follows a byte that must come next; NULL if another one does. */
static const uint8_t *skip_byte(const uint8_t *at, const uint8_t *end, uint8_t byte) {
    return at && at < end && *at == byte ? at + 1 : NULL;
}

/* Read `rows` lines of `width` quoted cells each. `places` gets where each cell begins and ends;
 * from the column `first` on, `digits` and `shapes` get what `read_plain` says, one column after
 * the other. CELLS_WITH_QUOTES if a quote in a cell is doubled, as it must be; CELLS_OTHER if the
 * text is anything else: then what was written has no meaning. */
EXPORT int tracekit_cells(const uint8_t *text, int64_t size, int64_t rows, int32_t width,
                          int32_t first, int32_t *places, int64_t *digits, uint8_t *shapes) {
    const uint8_t *at = text, *end = text + size;
    int found = CELLS_READ;
    for (int64_t row = 0; row < rows; row++) {
        for (int32_t column = 0; column < width; column++) {
            at = skip_byte(at, end, '"');
            const uint8_t *closing = at ? cell_end(at, end, &found) : NULL;
            if (!closing) return CELLS_OTHER;
            *places++ = (int32_t)(at - text);
            *places++ = (int32_t)(closing - text);
            if (column >= first) {
                int64_t place = (column - first) * rows + row;
                digits[place] = 0;
                shapes[place] = (uint8_t)read_plain(at, closing, &digits[place]);
            }
            at = closing + 1;
            if (column + 1 < width) at = skip_byte(at, end, ',');
        }
        if (at < end && *at == '\r') at++;
        at = skip_byte(at, end, '\n');
        if (!at) return CELLS_OTHER;
    }
    return at == end ? found : CELLS_OTHER;
}

/* ---- rows that begin like those before them ---- */

/* What a line is, instead of the number of its key. */
enum { OTHER_ROW = -1, OTHER_LINE = -2 };

typedef struct {
    const uint8_t *text, *end;
    int32_t owner_width, key_width, width;
    int32_t *owners, *keys; /* where each begins and ends */
    int32_t *places;        /* keys by their hash, from 1 */
    int32_t place_count, owner_count, key_count;
} Repeats;

/* What follows a quoted cell, in which a quote may be written as two; NULL if it does not end. */
static const uint8_t *skip_cell(const uint8_t *at, const uint8_t *end) {
    int found = CELLS_READ;
    at = skip_byte(at, end, '"');
    at = at ? cell_end(at, end, &found) : NULL;
    return at ? at + 1 : NULL;
}

/* Where `count` cells end, the commas between them included; NULL if they are not there. */
static const uint8_t *skip_cells(const uint8_t *at, const uint8_t *end, int32_t count) {
    for (int32_t i = 0; at && i < count; i++) {
        if (i) at = skip_byte(at, end, ',');
        at = at ? skip_cell(at, end) : NULL;
    }
    return at;
}

static const uint8_t *skip_line_end(const uint8_t *at, const uint8_t *end) {
    if (at && at < end && *at == '\r') at++;
    return skip_byte(at, end, '\n');
}

/* Where the last of the cells up to the end of a line ends; NULL if there is anything else. */
static const uint8_t *skip_row(const uint8_t *at, const uint8_t *end) {
    const uint8_t *closing = at = skip_cell(at, end);
    while (at && at < end && *at == ',' && end - at > 1 && at[1] == '"')
        closing = at = skip_cell(at + 1, end);
    if (at && at < end && *at == ',') at++;
    return skip_line_end(at, end) ? closing : NULL;
}

/* Whether a line begins with two quoted numbers of at most 12 digits. */
static int has_two_numbers(const uint8_t *at, const uint8_t *end) {
    for (int i = 0; at && i < 2; i++) {
        if (!(at = skip_byte(at, end, '"'))) return 0;
        const uint8_t *closing = at;
        while (closing < end && is_digit(*closing) && closing - at <= 12) closing++;
        if (closing == at || closing - at > 12) return 0;
        at = skip_byte(closing, end, '"');
        at = at ? skip_byte(at, end, ',') : NULL;
    }
    return at != NULL;
}

/* The number of a key, a new one if it was not there before; -1 if there are too many. */
static int32_t key_at(Repeats *found, const uint8_t *from, const uint8_t *to) {
    uint64_t mask = (uint64_t)found->place_count - 1, at = hash_with(0, from, to) & mask;
    for (; found->places[at]; at = (at + 1) & mask) {
        const int32_t *known = &found->keys[2 * (int64_t)(found->places[at] - 1)];
        if (known[1] - known[0] == to - from &&
            !memcmp(found->text + known[0], from, (size_t)(to - from)))
            return found->places[at] - 1;
    }
    if (2 * found->key_count >= found->place_count) return -1;
    found->keys[2 * (int64_t)found->key_count] = (int32_t)(from - found->text);
    found->keys[2 * (int64_t)found->key_count + 1] = (int32_t)(to - found->text);
    found->places[at] = ++found->key_count;
    return found->key_count - 1;
}

/* A key and a value. */
typedef struct {
    const uint8_t *key, *key_end, *value, *value_end;
} Pair;

/* Read what follows the cells of the owner, if it is a key and a value without quotes and then
 * only empty cells. */
static int read_pair(const Repeats *found, const uint8_t *at, Pair *pair) {
    int quotes = CELLS_READ;
    pair->key = pair->key_end = at + 2;
    for (int32_t i = 0; i <= found->key_width; i++) {
        at = skip_byte(at, found->end, ',');
        at = at ? skip_byte(at, found->end, '"') : NULL;
        const uint8_t *closing = at ? cell_end(at, found->end, &quotes) : NULL;
        if (!closing || quotes != CELLS_READ) return 0;
        if (i + 1 == found->key_width) pair->key_end = closing;
        pair->value = at, pair->value_end = closing;
        at = closing + 1;
    }
    for (int32_t left = found->width - found->owner_width - found->key_width - 1;
         left > 0 && found->end - at > 2 && !memcmp(at, ",\"\"", 3); left--)
        at += 3;
    if (at < found->end && *at == ',') at++;
    return skip_line_end(at, found->end) != NULL;
}

/* Where the cells of the owner end in a row that begins at `at`; NULL if they are not cells. */
static const uint8_t *read_owner(Repeats *found, const uint8_t *at) {
    if (found->owner_count) {
        const int32_t *last = &found->owners[2 * (int64_t)(found->owner_count - 1)];
        int64_t size = last[1] - last[0];
        if (found->end - at > size && at[size] == ',' &&
            !memcmp(at, found->text + last[0], (size_t)size))
            return at + size;
    }
    const uint8_t *closing = skip_cells(at, found->end, found->owner_width);
    if (!closing || closing == found->end || *closing != ',') return NULL;
    int32_t *owner = &found->owners[2 * (int64_t)found->owner_count++];
    owner[0] = (int32_t)(at - found->text), owner[1] = (int32_t)(closing - found->text);
    return closing;
}

/* Read lines, at most `most`. A row has the cells of its owner, which it mostly shares with the row
 * before it, then those of a key, then a value, and no others but empty ones. For each line,
 * `lines` gets four numbers: its owner (-1 before the first one), its key, and where the value
 * begins and ends. A row of other cells has OTHER_ROW instead of a key, and where those cells begin
 * and end; a line that is no row has OTHER_LINE, and where it begins and ends. `digits` and
 * `shapes` get what `read_plain` says of the value. `owners` and `keys` have room for as many as
 * there are lines; `places` are zeros, as many as a power of two. `counts` gets how many owners,
 * keys and lines there are. 0 if the text is anything else: then what was written has no meaning.
 */
EXPORT int tracekit_repeats(const uint8_t *text, int64_t size, int64_t most, const int32_t *widths,
                            int32_t *lines, int64_t *digits, uint8_t *shapes, int32_t *owners,
                            int32_t *keys, int32_t *places, int32_t place_count, int32_t *counts) {
    Repeats found = {text, text + size, widths[0],   widths[1], widths[2], owners,
                     keys, places,      place_count, 0,         0};
    const uint8_t *at = text;
    int64_t row = 0;
    for (; at < found.end; row++, lines += 4) {
        const uint8_t *feed = memchr(at, '\n', (size_t)(found.end - at));
        if (!feed || row == most) return 0;
        lines[1] = OTHER_LINE, lines[2] = (int32_t)(at - text), lines[3] = (int32_t)(feed - text);
        digits[row] = 0, shapes[row] = 0;
        if (has_two_numbers(at, found.end)) {
            const uint8_t *owner_end = read_owner(&found, at);
            Pair pair = {at, at, at, at};
            if (!owner_end) return 0;
            if (read_pair(&found, owner_end, &pair)) {
                lines[1] = key_at(&found, pair.key, pair.key_end);
                if (lines[1] < 0) return 0;
                shapes[row] = (uint8_t)read_plain(pair.value, pair.value_end, &digits[row]);
            } else {
                lines[1] = OTHER_ROW;
                pair.value = owner_end + 1, pair.value_end = skip_row(pair.value, found.end);
                if (!pair.value_end) return 0;
            }
            lines[2] = (int32_t)(pair.value - text), lines[3] = (int32_t)(pair.value_end - text);
        }
        lines[0] = found.owner_count - 1;
        at = feed + 1;
    }
    counts[0] = found.owner_count, counts[1] = found.key_count, counts[2] = (int32_t)row;
    return 1;
}

/* ---- rows of cells of which some are quoted ---- */

enum { EMPTY_CELL = 16 };

/* Where a cell without quotes ends; NULL if a character comes that needs care. */
static const uint8_t *bare_end(const uint8_t *at, const uint8_t *end) {
    for (; at < end && *at != ',' && *at != '\n' && *at != '\r'; at++)
        if (*at == '"' || !*at) return NULL;
    return at;
}

/* Read a number without separated thousands, or an empty cell; 0 if it is anything else. */
static int read_number(const uint8_t *at, const uint8_t *end, int64_t *number, uint8_t *decimals) {
    *number = 0, *decimals = EMPTY_CELL;
    if (at == end) return 1;
    int shape = read_plain(at, end, number);
    *decimals = (uint8_t)(shape & (GROUPED - 1));
    return shape & PLAIN && !(shape & GROUPED);
}

/* What a column of cells is: numbers, texts, or values: numbers with a unit, or texts. */
enum { NUMBER_COLUMN, TEXT_COLUMN, VALUE_COLUMN };

/* Whether a text is a unit: letters, percent signs and slashes, but no slash first; or nothing. */
static int is_unit(const uint8_t *at, const uint8_t *end) {
    if (at < end && *at == '/') return 0;
    for (; at < end; at++) {
        int letter = *at | 0x20;
        if ((letter < 'a' || letter > 'z') && *at != '%' && *at != '/') return 0;
    }
    return 1;
}

/* Read a number with its unit, or a text. Returns where the unit begins; of a text or an empty
 * cell, its beginning. */
static const uint8_t *read_value(const uint8_t *from, const uint8_t *to, int64_t *number,
                                 uint8_t *decimals) {
    const uint8_t *unit = from;
    while (unit < to && (is_digit(*unit) || *unit == '.')) unit++;
    if (unit > from && is_unit(unit, to) && read_number(from, unit, number, decimals)) return unit;
    *number = 0, *decimals = EMPTY_CELL;
    return from;
}

/* Read `rows` lines of cells, quoted or not, one for each of the `width` columns whose kinds
 * `kinds` tells. `starts` gets where each line begins. Of the columns of numbers and values,
 * `numbers` and `decimals` get what `read_number` says of the number; of those of texts and values,
 * `codes` gets the number of each text, of a value that of its unit; of values, `spans` gets where
 * each cell begins and ends: one column after the other. `keys` gets where each text begins and
 * ends, in the order of their first cells, row by row; it has room for `place_count`, a power of
 * two, as `places` has, which are zeros. Returns how many texts there are; -1 if the text is
 * anything else: then what was written has no meaning. */
EXPORT int32_t tracekit_mixed(const uint8_t *text, int64_t size, int64_t rows, int32_t width,
                              const uint8_t *kinds, int32_t *starts, int64_t *numbers,
                              uint8_t *decimals, int32_t *codes, int32_t *spans, int32_t *keys,
                              int32_t *places, int32_t place_count) {
    Repeats found = {text, text + size, 0, 0, width, NULL, keys, places, place_count, 0, 0};
    const uint8_t *at = text, *end = text + size;
    int cells = CELLS_READ;
    for (int64_t row = 0; row < rows; row++) {
        int64_t number_at = row, text_at = row, value_at = row;
        starts[row] = (int32_t)(at - text);
        for (int32_t column = 0; column < width; column++) {
            int is_quoted = at < end && *at == '"';
            const uint8_t *from = at + is_quoted;
            const uint8_t *to = is_quoted ? cell_end(from, end, &cells) : bare_end(from, end);
            if (!to) return -1;
            at = from;
            if (kinds[column] == VALUE_COLUMN) {
                at = read_value(from, to, &numbers[number_at], &decimals[number_at]);
                spans[2 * value_at] = (int32_t)(from - text);
                spans[2 * value_at + 1] = (int32_t)(to - text);
                number_at += rows, value_at += rows;
            } else if (kinds[column] == NUMBER_COLUMN) {
                if (!read_number(from, to, &numbers[number_at], &decimals[number_at])) return -1;
                number_at += rows;
            }
            if (kinds[column] != NUMBER_COLUMN) {
                codes[text_at] = key_at(&found, at, to);
                if (codes[text_at] < 0) return -1;
                text_at += rows;
            }
            at = to + is_quoted;
            at = column + 1 < width ? skip_byte(at, end, ',') : skip_line_end(at, end);
            if (!at) return -1;
        }
    }
    return at == end ? found.key_count : -1;
}

/* ---- large arrays in files ---- */

/* Arrays of numpy that are too large for memory together (arrays.py): a handler of array memory
 * (NEP 49) that puts large ones into files, which have no name and go with their arrays. The pages
 * of a file can leave memory at any time and come back when they are touched: a thread sends all of
 * them away every now and then, whatever others do meanwhile. Where a file cannot be had, an array
 * is in memory like any other, and so are all arrays on other systems than Linux.
 *
 * Files that arrays leave are used again for others: their pages are there already. */

/* The start of numpy's PyDataMem_Handler, version 1. */
typedef struct {
    char name[127];
    uint8_t version;
    void *context;
    void *(*allocate)(void *context, size_t size);
    void *(*allocate_zeros)(void *context, size_t count, size_t size);
    void *(*resize)(void *context, void *at, size_t size);
    void (*release)(void *context, void *at, size_t size);
} ArrayHandler;

#if defined(__linux__)

enum { MOST_PATH = 4096, PAGE = 4096, MOST_FILES = 1 << 14 };
enum { LET_GO_NANOSECONDS = 12000000 };

typedef struct {
    uint8_t *at;
    size_t size;
    int is_used;
} ArrayFile;

static pthread_mutex_t array_lock = PTHREAD_MUTEX_INITIALIZER;
static ArrayFile array_files[MOST_FILES];
static int array_file_count;
static int array_user_count; /* of those that have begun and not ended */
static size_t least_in_file; /* bytes of an array */
static pthread_t array_watch;
static int has_array_watch;
static char array_path[MOST_PATH]; /* of files, with an X for each letter to choose */

static int new_array_file(size_t size) {
    char path[MOST_PATH];
    if (array_file_count == MOST_FILES) return -1;
    size = (size + PAGE - 1) / PAGE * PAGE;
    memcpy(path, array_path, sizeof(path));
    int file = mkostemp(path, O_CLOEXEC);
    if (file < 0) return -1;
    unlink(path);
    /* with room on the disk from now on: a page without would end the process when it is touched */
    void *at = fallocate(file, 0, 0, (off_t)size)
                   ? MAP_FAILED
                   : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED) return -1;
    array_files[array_file_count] = (ArrayFile){at, size, 0};
    return array_file_count++;
}

/* The smallest file that fits and is not much too large; a new one, with zeros, if none does. */
static uint8_t *array_file(size_t size, int *is_new) {
    int found = -1;
    for (int i = 0; i < array_file_count; i++)
        if (!array_files[i].is_used && array_files[i].size >= size &&
            array_files[i].size / 2 <= size &&
            (found < 0 || array_files[i].size < array_files[found].size))
            found = i;
    *is_new = found < 0;
    if (found < 0 && (found = new_array_file(size)) < 0) return NULL;
    array_files[found].is_used = 1;
    return array_files[found].at;
}

static int array_file_at(const void *at) {
    if ((uintptr_t)at % PAGE) return -1;
    for (int i = 0; i < array_file_count; i++)
        if (array_files[i].at == at) return i;
    return -1;
}

static void drop_array_file(int i) {
    munmap(array_files[i].at, array_files[i].size);
    array_files[i] = array_files[--array_file_count];
}

static void *allocate_array(void *context, size_t size) {
    uint8_t *at = NULL;
    int is_new;
    (void)context;
    if (size >= least_in_file) {
        pthread_mutex_lock(&array_lock);
        at = array_file(size, &is_new);
        pthread_mutex_unlock(&array_lock);
    }
    return at ? at : malloc(size ? size : 1);
}

static void *allocate_zeros(void *context, size_t count, size_t size) {
    uint8_t *at = NULL;
    int is_new = 0;
    (void)context;
    if (size && count > SIZE_MAX / size) return NULL;
    if (count * size >= least_in_file) {
        pthread_mutex_lock(&array_lock);
        at = array_file(count * size, &is_new);
        pthread_mutex_unlock(&array_lock);
        if (at && !is_new) memset(at, 0, count * size);
    }
    return at ? at : calloc(count ? count : 1, size ? size : 1);
}

static void release_array(void *context, void *at, size_t size) {
    (void)context, (void)size;
    pthread_mutex_lock(&array_lock);
    int i = array_file_at(at);
    if (i >= 0) {
        array_files[i].is_used = 0;
        if (!array_user_count) drop_array_file(i);
    }
    pthread_mutex_unlock(&array_lock);
    if (i < 0) free(at);
}

static void *resize_array(void *context, void *at, size_t size) {
    pthread_mutex_lock(&array_lock);
    int i = array_file_at(at);
    size_t known = i < 0 ? 0 : array_files[i].size;
    pthread_mutex_unlock(&array_lock);
    if (i < 0) return realloc(at, size ? size : 1);
    if (size <= known) return at;
    void *other = allocate_array(context, size);
    if (!other) return NULL;
    memcpy(other, at, known);
    release_array(context, at, known);
    return other;
}

static ArrayHandler array_handler = {
    "tracekit", 1, NULL, allocate_array, allocate_zeros, resize_array, release_array};

static void let_pages_go(void) {
    for (int i = 0; i < array_file_count; i++)
        madvise(array_files[i].at, array_files[i].size, MADV_DONTNEED);
}

/* The thread, as long as there are users. */
static void *watch_arrays(void *nothing) {
    struct timespec pause = {0, LET_GO_NANOSECONDS};
    for (int goes_on = 1; goes_on;) {
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&array_lock);
        let_pages_go();
        goes_on = array_user_count > 0;
        if (!goes_on) has_array_watch = 0;
        pthread_mutex_unlock(&array_lock);
    }
    return nothing;
}

/* From now on there are files, for arrays of `least` bytes and more; the last six letters of their
 * `path` are XXXXXX. Returns the handler; NULL where there can be none. */
EXPORT ArrayHandler *tracekit_begin_array_files(const char *path, int64_t least) {
    size_t length = strlen(path);
    if (length >= MOST_PATH) return NULL;
    pthread_mutex_lock(&array_lock);
    if (!has_array_watch && !pthread_create(&array_watch, NULL, watch_arrays, NULL)) {
        pthread_detach(array_watch);
        has_array_watch = 1;
    }
    int is_watched = has_array_watch;
    if (is_watched) {
        memcpy(array_path, path, length + 1);
        least_in_file = (size_t)least;
        array_user_count++;
    }
    pthread_mutex_unlock(&array_lock);
    return is_watched ? &array_handler : NULL;
}

/* The last user lets all files go that no array is in; those of others go with their arrays. */
EXPORT void tracekit_end_array_files(void) {
    pthread_mutex_lock(&array_lock);
    if (!--array_user_count)
        for (int i = array_file_count - 1; i >= 0; i--)
            if (!array_files[i].is_used) drop_array_file(i);
    let_pages_go();
    pthread_mutex_unlock(&array_lock);
}

/* Bytes of all files. */
EXPORT int64_t tracekit_array_file_bytes(void) {
    int64_t size = 0;
    pthread_mutex_lock(&array_lock);
    for (int i = 0; i < array_file_count; i++) size += (int64_t)array_files[i].size;
    pthread_mutex_unlock(&array_lock);
    return size;
}

#else

EXPORT ArrayHandler *tracekit_begin_array_files(const char *path, int64_t least) {
    (void)path, (void)least;
    return NULL;
}

EXPORT void tracekit_end_array_files(void) {}

EXPORT int64_t tracekit_array_file_bytes(void) {
    return 0;
}

#endif
