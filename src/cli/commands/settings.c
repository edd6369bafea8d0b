/*
 * settings.c
 *	  What can be said of a followed list.
 */
#include "settings.h"

#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "options.h"

#define DEFAULT_EVERY 10.0
#define LEAST_EVERY 0.05
#define LONGEST_EVERY 86400.0
#define LEAST_RATE 1000

typedef enum setting_kind
{
	TEXT,
	SECONDS,
	NUMBER,
	SWITCH,
	KEY
} setting_kind;

/* A name that a line may have, and where its value goes in a plan. */
typedef struct plan_setting
{
	const char *name;
	setting_kind kind;
	bool		one_list;		/* of which there can be no default */
	size_t		at;
} plan_setting;

#define AT(field) offsetof(pull_plan, field)

static const plan_setting settings[] = {
	{"url", TEXT, true, AT(url)},
	{"dsn", TEXT, false, AT(dsn)},
	{"list", TEXT, true, AT(list)},
	{"index", TEXT, true, AT(index)},
	{"out", TEXT, true, AT(out)},
	{"name", TEXT, true, AT(name)},
	{"header-file", TEXT, false, AT(http.header_file)},
	{"every", SECONDS, false, AT(every)},
	{"limit-rate", NUMBER, false, AT(http.rate)},
	{"allow-http", SWITCH, false, AT(http.plain)},
	{"no-agent", SWITCH, false, AT(no_agent)},
	{"key", KEY, false, 0}
};

#define SETTINGS (sizeof settings / sizeof settings[0])

static void *
value_in(pull_plan *plan, size_t which)
{
	return (char *) plan + settings[which].at;
}

static void
free_text(const char *text)
{
	union
	{
		const char *text;
		void	   *memory;
	}			both = {text};

	free(both.memory);
}

/* ------------------------------------------------------------------------
 * Plans with texts of their own
 * ------------------------------------------------------------------------ */

void
settings_copy(pull_plan *plan, const pull_plan *from)
{
	size_t		i;

	*plan = *from;
	plan->said = 0;
	for (i = 0; i < SETTINGS && settings[i].kind == TEXT; i++)
	{
		const char **text = value_in(plan, i);

		if (*text != NULL)
			*text = text_of("%s", *text);
	}
}

void
settings_free(pull_plan *plan)
{
	size_t		i;

	for (i = 0; i < SETTINGS && settings[i].kind == TEXT; i++)
		free_text(*(const char **) value_in(plan, i));
	memset(plan, 0, sizeof *plan);
}

static bool
same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

bool
settings_are_same(const pull_plan *a, const pull_plan *b)
{
	return same_text(a->url, b->url) && same_text(a->dsn, b->dsn) && same_text(a->list, b->list) &&
		same_text(a->index, b->index) && same_text(a->out, b->out) && same_text(a->name, b->name) &&
		same_text(a->http.header_file, b->http.header_file) && a->http.plain == b->http.plain &&
		a->http.rate == b->http.rate && a->every >= b->every && a->every <= b->every &&
		a->no_agent == b->no_agent && a->key_count == b->key_count &&
		memcmp(a->keys, b->keys, a->key_count * sizeof a->keys[0]) == 0;
}

/* ------------------------------------------------------------------------
 * Lines and options
 * ------------------------------------------------------------------------ */

static char *
add_key(pull_plan *plan, const char *text)
{
	char	   *problem;

	if (plan->key_count == PLAN_MOST_KEYS)
		return text_of("at most %d keys can be given", PLAN_MOST_KEYS);
	problem = feed_public_key(text, &plan->keys[plan->key_count]);
	if (problem == NULL)
		plan->key_count++;
	return problem;
}

static char *
set_switch(bool *value, const char *name, const char *text)
{
	static const char *const words[] = {"off", "on", "no", "yes", "false", "true"};
	size_t		i;

	for (i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(text, words[i]) == 0)
		{
			*value = i % 2 == 1;
			return NULL;
		}
	return text_of("%s must be on or off, not \"%s\"", name, text);
}

static char *
set_seconds(double *value, const char *name, const char *text)
{
	char	   *end;

	*value = strtod(text, &end);
	if (end != text && *end == '\0' && *value >= LEAST_EVERY && *value <= LONGEST_EVERY)
		return NULL;
	return text_of("%s must be a number of seconds from %g to %g, not \"%s\"", name, LEAST_EVERY, LONGEST_EVERY, text);
}

static char *
set_value(pull_plan *plan, size_t which, const char *text)
{
	const char *name = settings[which].name;
	void	   *place = value_in(plan, which);

	/* the environment says all of a server that an empty connection string leaves out */
	if (text[0] == '\0' && place != &plan->dsn)
		return text_of("%s has no value", name);
	switch (settings[which].kind)
	{
		case TEXT:
			free_text(*(const char **) place);
			*(const char **) place = text_of("%s", text);
			return NULL;
		case SECONDS:
			return set_seconds(place, name, text);
		case NUMBER:
			if (is_count(text, LEAST_RATE, INT64_MAX, place))
				return NULL;
			return text_of("%s must be a whole number of at least %d, not \"%s\"", name, LEAST_RATE, text);
		case SWITCH:
			return set_switch(place, name, text);
		case KEY:
			break;
	}
	return add_key(plan, text);
}

char *
settings_set(pull_plan *plan, const char *name, const char *value, bool of_all)
{
	size_t		i;

	for (i = 0; i < SETTINGS; i++)
	{
		uint32_t	bit = UINT32_C(1) << i;

		if (strcmp(settings[i].name, name) != 0)
			continue;
		if (of_all && settings[i].one_list)
			return text_of("%s belongs to one list, behind its [name]", name);
		if ((plan->said & bit) != 0 && settings[i].kind != KEY)
			return text_of("%s is given twice", name);
		/* a list's own keys are all that it has */
		if ((plan->said & bit) == 0 && settings[i].kind == KEY)
			plan->key_count = 0;
		plan->said |= bit;
		return set_value(plan, i, value);
	}
	return text_of("unknown name \"%s\"", name);
}

int
settings_options(struct option *options, int first)
{
	int			i;

	for (i = 0; i < (int) SETTINGS; i++)
	{
		options[i].name = settings[i].name;
		options[i].has_arg = settings[i].kind == SWITCH ? no_argument : required_argument;
		options[i].flag = NULL;
		options[i].val = first + i;
	}
	return i;
}

/* ------------------------------------------------------------------------
 * All of it
 * ------------------------------------------------------------------------ */

static char *
check_url(pull_plan *plan, const char *dashes)
{
	if (strncmp(plan->url, "https://", 8) != 0 && strncmp(plan->url, "http://", 7) != 0)
		return text_of("%surl must begin with https://", dashes);
	if (strncmp(plan->url, "http://", 7) == 0 && !plan->http.plain && plan->key_count == 0)
		return text_of("http: lets others change what comes: use https:, %skey or %sallow-http", dashes, dashes);
	plan->http.plain |= plan->key_count > 0;
	return NULL;
}

char *
settings_check(pull_plan *plan, const char *dashes)
{
	size_t		length = plan->out != NULL ? strlen(plan->out) : 0;

	if (plan->out == NULL || (plan->url == NULL) == (plan->dsn == NULL))
		return text_of("%sout and either %surl or %sdsn are needed", dashes, dashes, dashes);
	if (length == 0 || plan->out[length - 1] == '/' || strcmp(plan->out, "-") == 0)
		return text_of("%sout must be a file's name", dashes);
	if (plan->url == NULL && (plan->list == NULL) == (plan->index == NULL))
		return text_of("%sdsn needs either %slist or %sindex", dashes, dashes, dashes);
	if (plan->url != NULL && (plan->list != NULL || plan->index != NULL))
		return text_of("%slist and %sindex are of %sdsn; of a folder %sname checks which list it is", dashes, dashes, dashes, dashes);
	if (plan->url == NULL && (plan->key_count > 0 || plan->http.plain || plan->http.rate > 0 || plan->http.header_file != NULL))
		return text_of("%skey, %sallow-http, %slimit-rate and %sheader-file are of %surl", dashes, dashes, dashes, dashes, dashes);
	if (plan->every <= 0)
		plan->every = plan->index != NULL ? 1 : DEFAULT_EVERY;
	return plan->url != NULL ? check_url(plan, dashes) : NULL;
}
