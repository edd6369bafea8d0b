/*
 * config.c
 *	  Reading the files of bloomfilter pull --config.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "messages.h"
#include "settings.h"
#include "system.h"

#define FILE_ENDING ".conf"
#define MOST_NAME 100
#define BLANKS " \t\r\n\f\v"

/* A file while it is read. */
typedef struct config_reader
{
	const char *path;
	unsigned	line;
	pull_config *config;
	config_entry head;			/* what goes for all lists of the file */
	config_entry *entry;		/* the list that is read; NULL: the head */
} config_reader;

/* ------------------------------------------------------------------------
 * Entries
 * ------------------------------------------------------------------------ */

void
config_free_entry(config_entry *entry)
{
	settings_free(&entry->plan);
	free(entry->name);
	free(entry->file);
	free(entry->place);
	free(entry);
}

void
config_free(pull_config *config)
{
	size_t		i;

	for (i = 0; i < config->count; i++)
		config_free_entry(config->entries[i]);
	free(config->entries);
	memset(config, 0, sizeof *config);
}

bool
config_is_same(const config_entry *a, const config_entry *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->place, b->place) == 0 && settings_are_same(&a->plan, &b->plan);
}

static void
say(const config_reader *in, unsigned line, config_entry *entry, char *problem)
{
	complain("\"%s\", line %u: %s", in->path, line, problem);
	free(problem);
	entry->bad = true;
	in->config->errors++;
}

/* A file's name that is the same for the same file, however it is written. */
static char *
real_place(const char *out)
{
	const char *slash = strrchr(out, '/');
	char	   *folder = slash == NULL ? text_of(".") : text_of("%.*s/", (int) (slash - out), out);
	char	   *real = realpath(folder, NULL);
	char	   *place = text_of("%s/%s", real != NULL ? real : folder, slash == NULL ? out : slash + 1);

	free(real);
	free(folder);
	return place;
}

/* Another entry of the name or the file; or NULL. */
static const config_entry *
find_like(const pull_config *config, const config_entry *entry)
{
	size_t		i;

	for (i = 0; i < config->count; i++)
		if (strcmp(config->entries[i]->name, entry->name) == 0 || strcmp(config->entries[i]->place, entry->place) == 0)
			return config->entries[i];
	return NULL;
}

static void
check_entry(config_reader *in, config_entry *entry)
{
	char	   *problem = settings_check(&entry->plan, "");
	const config_entry *like;

	if (problem == NULL)
	{
		entry->place = real_place(entry->plan.out);
		like = find_like(in->config, entry);
		if (like == NULL)
			return;
		problem = text_of("the list of \"%s\", line %u, has the same %s", like->file, like->line,
						  strcmp(like->place, entry->place) == 0 ? "out" : "name");
	}
	say(in, entry->line, entry, problem);
}

static void
end_entry(config_reader *in)
{
	pull_config *config = in->config;
	config_entry *entry = in->entry;

	if (entry == NULL)
		return;
	in->entry = NULL;
	/* what the head was to say of it isn't known */
	entry->bad |= in->head.bad;
	if (!entry->bad)
		check_entry(in, entry);
	if (entry->bad)
	{
		config_free_entry(entry);
		return;
	}
	config->entries = allocate(config->entries, config->count + 1, sizeof *config->entries);
	config->entries[config->count++] = entry;
}

/* ------------------------------------------------------------------------
 * Lines
 * ------------------------------------------------------------------------ */

static bool
is_name(const char *name)
{
	size_t		i;

	for (i = 0; name[i] != '\0'; i++)
		if ((unsigned char) name[i] <= ' ' || name[i] == '[' || name[i] == ']' || name[i] == 127)
			return false;
	return i > 0 && i <= MOST_NAME;
}

/* "[users]" */
static void
begin_entry(config_reader *in, char *text)
{
	size_t		length = strlen(text);
	config_entry *entry = allocate(NULL, 1, sizeof *entry);
	bool		closed = text[length - 1] == ']';

	end_entry(in);
	memset(entry, 0, sizeof *entry);
	if (closed)
		text[length - 1] = '\0';
	entry->name = text_of("%s", text + 1);
	entry->file = text_of("%s", in->path);
	entry->line = in->line;
	settings_copy(&entry->plan, &in->head.plan);
	in->entry = entry;
	if (!closed || !is_name(entry->name))
		say(in, in->line, entry, text_of("a list begins with its name in brackets, such as [users]"));
}

/* "url = https://lists.example.com/users" */
static void
take_setting(config_reader *in, char *text)
{
	config_entry *entry = in->entry != NULL ? in->entry : &in->head;
	size_t		length = strcspn(text, "=" BLANKS);
	char	   *value = text + length + strspn(text + length, BLANKS);
	char	   *problem;

	if (*value != '=')
		problem = text_of("\"%s\" is neither [name] nor name = value", text);
	else
	{
		value += 1 + strspn(value + 1, BLANKS);
		text[length] = '\0';
		problem = settings_set(&entry->plan, text, value, in->entry == NULL);
	}
	if (problem != NULL)
		say(in, in->line, entry, problem);
}

static void
take_line(config_reader *in, char *line)
{
	char	   *text = line + strspn(line, BLANKS);
	size_t		length = strlen(text);

	while (length > 0 && strchr(BLANKS, text[length - 1]) != NULL)
		text[--length] = '\0';
	if (length == 0 || text[0] == '#')
		return;
	if (text[0] == '[')
		begin_entry(in, text);
	else
		take_setting(in, text);
}

/* ------------------------------------------------------------------------
 * Files
 * ------------------------------------------------------------------------ */

static bool
read_file(const char *path, pull_config *config)
{
	FILE	   *stream = fopen(path, "r");
	config_reader in;
	char	   *line = NULL;
	size_t		room = 0;
	ssize_t		length;

	if (stream == NULL)
	{
		complain("cannot read \"%s\": %s", path, strerror(errno));
		config->errors++;
		return false;
	}
	memset(&in, 0, sizeof in);
	in.path = path;
	in.config = config;
	for (in.line = 1; (length = getline(&line, &room, stream)) >= 0; in.line++)
		if (strlen(line) == (size_t) length)
			take_line(&in, line);
		else
			say(&in, in.line, in.entry != NULL ? in.entry : &in.head, text_of("the line has a zero byte"));
	end_entry(&in);
	settings_free(&in.head.plan);
	free(line);
	if (ferror(stream))
	{
		complain("cannot read \"%s\": %s", path, strerror(errno));
		config->errors++;
	}
	fclose(stream);
	return true;
}

static int
is_config(const struct dirent *entry)
{
	size_t		length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > strlen(FILE_ENDING) &&
		strcmp(entry->d_name + length - strlen(FILE_ENDING), FILE_ENDING) == 0;
}

/* The paths of a folder's files in their order, or of the one file; freed by free_paths. */
static int
find_files(const char *path, char ***paths)
{
	struct dirent **found;
	int			count;
	int			i;

	if (!is_folder(path))
	{
		*paths = allocate(NULL, 1, sizeof **paths);
		(*paths)[0] = text_of("%s", path);
		return 1;
	}
	count = scandir(path, &found, is_config, alphasort);
	if (count < 0)
		return -1;
	*paths = allocate(NULL, (size_t) count + 1, sizeof **paths);
	for (i = 0; i < count; i++)
	{
		(*paths)[i] = text_of("%s/%s", path, found[i]->d_name);
		free(found[i]);
	}
	free(found);
	return count;
}

static void
free_paths(char **paths, int count)
{
	int			i;

	for (i = 0; i < count; i++)
		free(paths[i]);
	if (count >= 0)
		free(paths);
}

bool
config_read(const char *path, pull_config *config)
{
	char	  **paths;
	int			count = find_files(path, &paths);
	bool		any = false;
	int			i;

	memset(config, 0, sizeof *config);
	if (count < 0)
		complain("cannot read \"%s\": %s", path, strerror(errno));
	for (i = 0; i < count; i++)
		any |= read_file(paths[i], config);
	free_paths(paths, count);
	return any;
}

char *
config_state(const char *path)
{
	char	  **paths;
	int			count = find_files(path, &paths);
	char	   *state = text_of("%d", count);
	int			i;

	for (i = 0; i < count; i++)
	{
		struct stat st;
		char	   *before = state;

		if (stat(paths[i], &st) != 0)
			memset(&st, 0, sizeof st);
		state = text_of("%s\n%s %ju %ju %jd.%09ld", before, paths[i], (uintmax_t) st.st_ino,
						(uintmax_t) st.st_size, (intmax_t) st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
		free(before);
	}
	free_paths(paths, count);
	return state;
}
