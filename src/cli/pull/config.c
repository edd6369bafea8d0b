/*
 * config.c
 *	  Reading the files of bloomfilter pull --config.
 *
 * Lines become options as they would stand on a command line, so all that these mean, and
 * what is wrong with them, is said in one place, pull.c.
 */
#include "config.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "system.h"

#define BLANKS " \t\r\n\f\v"
#define OUT "--out="
#define KEY "--key="

/* A file while it is read. */
typedef struct config_reader
{
	pull_config *config;
	config_options head;		/* what goes for all lists of the file */
	bool		in_list;		/* the last list of config is read */
} config_reader;

/* ------------------------------------------------------------------------
 * Options
 * ------------------------------------------------------------------------ */

static void
add_option(config_options *options, char *text)
{
	options->texts = allocate(options->texts, (size_t) options->count + 2, sizeof *options->texts);
	options->texts[options->count++] = text;
	options->texts[options->count] = NULL;
}

static void
free_options(config_options *options)
{
	while (options->count > 0)
		free(options->texts[--options->count]);
	free(options->texts);
	options->texts = NULL;
}

/* The last value of an option, which begins so; NULL: it isn't said. */
static const char *
find_option(const config_options *options, const char *begin)
{
	int			i = options->count;

	while (i-- > 0)
		if (strncmp(options->texts[i], begin, strlen(begin)) == 0)
			return options->texts[i] + strlen(begin);
	return NULL;
}

const char *
config_out(const config_list *list)
{
	return find_option(&list->options, OUT);
}

void
config_free(pull_config *config)
{
	while (config->count > 0)
	{
		config_list *list = &config->lists[--config->count];

		free(list->name);
		free_options(&list->options);
	}
	free(config->lists);
	config->lists = NULL;
}

/* ------------------------------------------------------------------------
 * Lines
 * ------------------------------------------------------------------------ */

/* What goes for all lists stands before a list's own, as the last one counts; but a list's own keys are all that it has. */
static void
end_list(config_reader *in)
{
	config_list *list = &in->config->lists[in->config->count - 1];
	config_options own = list->options;
	bool		keys = find_option(&own, KEY) != NULL;
	int			i;

	memset(&list->options, 0, sizeof list->options);
	add_option(&list->options, text_of("pull"));
	for (i = 0; i < in->head.count; i++)
		if (!keys || strncmp(in->head.texts[i], KEY, strlen(KEY)) != 0)
			add_option(&list->options, text_of("%s", in->head.texts[i]));
	for (i = 0; i < own.count; i++)
		add_option(&list->options, own.texts[i]);
	free(own.texts);
	in->in_list = false;
}

/* "[users]"; false if it is no name. */
static bool
begin_list(config_reader *in, char *text)
{
	pull_config *config = in->config;
	size_t		length = strcspn(text + 1, "[]" BLANKS);

	if (in->in_list)
		end_list(in);
	if (length == 0 || strcmp(text + 1 + length, "]") != 0)
		return false;
	config->lists = allocate(config->lists, config->count + 1, sizeof *config->lists);
	memset(&config->lists[config->count], 0, sizeof *config->lists);
	config->lists[config->count++].name = text_of("%.*s", (int) length, text + 1);
	in->in_list = true;
	return true;
}

/* "url = https://lists.example.com/users"; false if it isn't of such a form. */
static bool
take_option(config_reader *in, const char *text)
{
	config_options *options = in->in_list ? &in->config->lists[in->config->count - 1].options : &in->head;
	int			length = (int) strcspn(text, "=" BLANKS);
	const char *value = text + length + strspn(text + length, BLANKS);

	if (length == 0 || (*value != '=' && *value != '\0'))
		return false;
	if (*value == '=')
		add_option(options, text_of("--%.*s=%s", length, text, value + 1 + strspn(value + 1, BLANKS)));
	else
		add_option(options, text_of("--%s", text));
	return true;
}

static bool
take_line(config_reader *in, char *line)
{
	char	   *text = line + strspn(line, BLANKS);
	size_t		length = strlen(text);

	while (length > 0 && strchr(BLANKS, text[length - 1]) != NULL)
		text[--length] = '\0';
	if (length == 0 || text[0] == '#')
		return true;
	return text[0] == '[' ? begin_list(in, text) : take_option(in, text);
}

/* ------------------------------------------------------------------------
 * Files
 * ------------------------------------------------------------------------ */

static bool
refuse(const char *path)
{
	complain("cannot read \"%s\": %s", path, strerror(errno));
	return false;
}

static bool
read_file(const char *path, pull_config *config)
{
	FILE	   *stream = fopen(path, "r");
	config_reader in = {config, {NULL, 0}, false};
	char	   *line = NULL;
	size_t		room = 0;
	ssize_t		length;
	unsigned	number = 0;
	bool		well = true;

	if (stream == NULL)
		return refuse(path);
	while (well && (length = getline(&line, &room, stream)) >= 0)
	{
		number++;
		well = strlen(line) == (size_t) length && take_line(&in, line);
		if (!well)
			complain("\"%s\", line %u: it is neither [name] nor name = value", path, number);
	}
	if (well && ferror(stream))
		well = refuse(path);
	if (in.in_list)
		end_list(&in);
	free_options(&in.head);
	free(line);
	fclose(stream);
	return well;
}

bool
config_read(const char *path, pull_config *config)
{
	char	   *pattern = text_of(is_folder(path) ? "%s/*.conf" : "%s", path);
	glob_t		files;
	bool		well;
	size_t		i;

	memset(config, 0, sizeof *config);
	/* what nothing fits is read by its own name, and told so */
	well = glob(pattern, GLOB_NOCHECK, NULL, &files) == 0;
	for (i = 0; well && i < files.gl_pathc; i++)
		well = read_file(files.gl_pathv[i], config);
	globfree(&files);
	free(pattern);
	if (well && config->count == 0)
		complain("there is no list in \"%s\"", path);
	if (well && config->count > 0)
		return true;
	config_free(config);
	return false;
}
