/*
 * pull_settings.c
 *	  What can be said of a followed list.
 */
#include "pull_settings.h"

#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "options.h"

#define DEFAULT_EVERY 10

/* ------------------------------------------------------------------------
 * Plans with texts of their own
 * ------------------------------------------------------------------------ */

/* The texts of a plan. */
#define TEXTS 5

static void
texts_of(url_plan *plan, const char **texts[TEXTS])
{
	texts[0] = &plan->url;
	texts[1] = &plan->out;
	texts[2] = &plan->name;
	texts[3] = &plan->working;
	texts[4] = &plan->http.header_file;
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

void
settings_copy(url_plan *plan, const url_plan *from)
{
	const char **texts[TEXTS];
	int			i;

	*plan = *from;
	plan->said = 0;
	texts_of(plan, texts);
	for (i = 0; i < TEXTS; i++)
		if (*texts[i] != NULL)
			*texts[i] = text_of("%s", *texts[i]);
}

void
settings_free(url_plan *plan)
{
	const char **texts[TEXTS];
	int			i;

	texts_of(plan, texts);
	for (i = 0; i < TEXTS; i++)
		free_text(*texts[i]);
	memset(plan, 0, sizeof *plan);
}

static bool
same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

bool
settings_are_same(const url_plan *a, const url_plan *b)
{
	return same_text(a->url, b->url) && same_text(a->out, b->out) && same_text(a->name, b->name) &&
		same_text(a->working, b->working) && same_text(a->http.header_file, b->http.header_file) &&
		a->http.plain == b->http.plain && a->http.rate == b->http.rate && a->every == b->every &&
		a->no_agent == b->no_agent && a->key_count == b->key_count &&
		memcmp(a->keys, b->keys, a->key_count * sizeof a->keys[0]) == 0;
}

/* ------------------------------------------------------------------------
 * Lines
 * ------------------------------------------------------------------------ */

typedef enum setting_kind
{
	TEXT,
	NUMBER,
	SWITCH,
	KEY
} setting_kind;

/* A name that a line may have, and where its value goes. */
typedef struct plan_setting
{
	const char *name;
	setting_kind	kind;
	bool		one_list;		/* of which there can be no default */
	void	   *value;
	uint64_t	min;
	uint64_t	max;
} plan_setting;

char *
settings_add_key(url_plan *plan, const char *text)
{
	char	   *problem;

	if (plan->key_count == URL_MOST_KEYS)
		return text_of("at most %d keys can be given", URL_MOST_KEYS);
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
set_value(url_plan *plan, const plan_setting *which, const char *text)
{
	const char **place = which->value;

	if (text[0] == '\0')
		return text_of("%s has no value", which->name);
	switch (which->kind)
	{
		case TEXT:
			free_text(*place);
			*place = text_of("%s", text);
			return NULL;
		case NUMBER:
			if (is_count(text, which->min, which->max, which->value))
				return NULL;
			return text_of("%s must be a whole number from %llu to %llu, not \"%s\"", which->name,
						   (unsigned long long) which->min, (unsigned long long) which->max, text);
		case SWITCH:
			return set_switch(which->value, which->name, text);
		case KEY:
			break;
	}
	return settings_add_key(plan, text);
}

char *
settings_set(url_plan *plan, const char *name, const char *value, bool of_all)
{
	const plan_setting settings[] = {
		{"url", TEXT, true, &plan->url, 0, 0},
		{"out", TEXT, true, &plan->out, 0, 0},
		{"name", TEXT, true, &plan->name, 0, 0},
		{"every", NUMBER, false, &plan->every, 1, LONGEST_EVERY},
		{"key", KEY, false, NULL, 0, 0},
		{"allow-http", SWITCH, false, &plan->http.plain, 0, 0},
		{"header-file", TEXT, false, &plan->http.header_file, 0, 0},
		{"limit-rate", NUMBER, false, &plan->http.rate, LEAST_RATE, INT64_MAX},
		{"working", TEXT, false, &plan->working, 0, 0},
		{"no-agent", SWITCH, false, &plan->no_agent, 0, 0}
	};
	size_t		i;

	for (i = 0; i < sizeof settings / sizeof settings[0]; i++)
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
		return set_value(plan, &settings[i], value);
	}
	return text_of("unknown name \"%s\"", name);
}

/* ------------------------------------------------------------------------
 * All of it
 * ------------------------------------------------------------------------ */

char *
settings_check(url_plan *plan, const char *dashes)
{
	size_t		length;

	if (plan->url == NULL || plan->out == NULL)
		return text_of("%surl and %sout are needed", dashes, dashes);
	length = strlen(plan->out);
	if (length == 0 || plan->out[length - 1] == '/' || strcmp(plan->out, "-") == 0)
		return text_of("%sout must be a file's name", dashes);
	if (strncmp(plan->url, "https://", 8) != 0 && strncmp(plan->url, "http://", 7) != 0)
		return text_of("%surl must begin with https://", dashes);
	if (strncmp(plan->url, "http://", 7) == 0 && !plan->http.plain && plan->key_count == 0)
		return text_of("http: lets others change what comes: use https:, %skey or %sallow-http", dashes, dashes);
	plan->http.plain |= plan->key_count > 0;
	if (plan->every == 0)
		plan->every = DEFAULT_EVERY;
	return NULL;
}
