/*
 * pull.c
 *	  bloomfilter pull: follow a list, from a web server or from PostgreSQL.
 */
#include "pull.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "source.h"

static const char help[] =
"Usage: bloomfilter pull --url URL --out FILE [OPTION]...\n"
"       bloomfilter pull --dsn DSN --list NAME --out FILE [OPTION]...\n"
"       bloomfilter pull --dsn DSN --index INDEX --out FILE [OPTION]...\n"
"\n"
"Keeps FILE what a list is: of a folder that \"bloomfilter export\" keeps on a web\n"
"server, or of a PostgreSQL server.  Programs open FILE; with --follow new keys\n"
"are in it moments after their commit.  \"bloomfilter status FILE\" tells more.\n"
"\n"
"  --url URL            of the folder\n"
"  --dsn DSN            connection string; \"\" takes all from the environment\n"
"  --list NAME          a list of bloom_publish\n"
"  --index INDEX        a live index; with its schema if that is not on the path\n"
"  --out FILE           the file that programs open\n"
"  --follow             stay, and look again every so often; end on SIGTERM\n"
"  --every SECONDS      between two looks (default: 10, of --dsn and of a tracked\n"
"                       list 1); of --url not less than the exporter's --poll\n"
"  --name NAME          the list's, where it is to be none other\n"
"  --allow-older        go back to an older list, or another of this name, once\n"
"  --key KEY            public key of minisign, or its file: only signed by one\n"
"                       of these; may be repeated\n"
"  --allow-http         take http: too; by itself only with --key\n"
"  --header-file FILE   lines of headers to send, such as Authorization\n"
"  --quiet              say nothing but errors\n"
"  --help               print this\n"
"\n"
"Exit status: 0, 1 if what the server has was refused, 2 if there was an error;\n"
"FILE is then as before.\n";

static void
take_key(const command_option *option, const char *argument)
{
	pull_plan  *plan = option->value;

	if (plan->key_count == FEED_MOST_KEYS)
		fail("at most %d keys can be given", FEED_MOST_KEYS);
	plan->keys[plan->key_count++] = feed_public_key(argument);
}

static void
check_url(const command_line *line, pull_plan *plan)
{
	bool		plain = strncmp(plan->url, "http://", 7) == 0;

	if (plan->list != NULL || plan->index != NULL)
		usage_error(line, "--list and --index are of --dsn; of a folder --name checks which list it is");
	if (!plain && strncmp(plan->url, "https://", 8) != 0)
		usage_error(line, "--url must begin with https://");
	/* messages have the address, and FILE has messages, which all may read */
	if (strcspn(strstr(plan->url, "//") + 2, "@") < strcspn(strstr(plan->url, "//") + 2, "/?#"))
		usage_error(line, "--url takes no user and password: a line \"Authorization: ...\" of --header-file has them");
	if (plain && !plan->http.plain && plan->key_count == 0)
		usage_error(line, "http: lets others change what comes: use https:, --key or --allow-http");
	plan->http.plain |= plan->key_count > 0;
}

static void
check_server(const command_line *line, const pull_plan *plan)
{
	if ((plan->list == NULL) == (plan->index == NULL))
		usage_error(line, "--dsn needs either --list or --index");
	if (plan->key_count > 0 || plan->http.plain || plan->http.header_file != NULL)
		usage_error(line, "--key, --allow-http and --header-file are of --url");
	server_check_dsn(plan->dsn);
}

static void
check_plan(const command_line *line, pull_plan *plan)
{
	size_t		length = plan->out != NULL ? strlen(plan->out) : 0;

	if (optind < line->argc)
		usage_error(line, "unexpected argument; the file is given by --out");
	if (plan->every > 0 && !plan->follow)
		usage_error(line, "--every needs --follow");
	if (plan->allow_older && plan->follow)
		usage_error(line, "--allow-older is for once, and excludes --follow");
	if (plan->out == NULL || (plan->url == NULL) == (plan->dsn == NULL))
		usage_error(line, "--out and either --url or --dsn are needed");
	if (length == 0 || plan->out[length - 1] == '/' || strcmp(plan->out, "-") == 0)
		usage_error(line, "--out must be a file's name");
	plan->every_said = plan->every > 0;
	if (!plan->every_said)
		plan->every = plan->dsn != NULL ? 1 : 10;
	if (plan->url != NULL)
		check_url(line, plan);
	else
		check_server(line, plan);
}

static pull_plan
read_plan(const command_line *line)
{
	pull_plan	plan = {0};
	const command_option options[] = {
		{"url", 0, option_text, &plan.url, 0, 0},
		{"dsn", 0, option_dsn, &plan.dsn, 0, 0},
		{"list", 0, option_text, &plan.list, 0, 0},
		{"index", 0, option_text, &plan.index, 0, 0},
		{"out", 0, option_text, &plan.out, 0, 0},
		{"follow", 0, option_flag, &plan.follow, 0, 0},
		{"every", 0, option_every, &plan.every, 0, 0},
		{"name", 0, option_text, &plan.name, 0, 0},
		{"allow-older", 0, option_flag, &plan.allow_older, 0, 0},
		{"key", 0, take_key, &plan, 0, 0},
		{"allow-http", 0, option_flag, &plan.http.plain, 0, 0},
		{"header-file", 0, option_text, &plan.http.header_file, 0, 0},
		{"quiet", 0, option_flag, &plan.quiet, 0, 0},
		{NULL, 0, NULL, NULL, 0, 0}
	};

	read_options(line, options);
	check_plan(line, &plan);
	return plan;
}

/* ------------------------------------------------------------------------
 * Looks, wherever they lead: FILE is looked after, and they are noted in it
 * ------------------------------------------------------------------------ */

/* FILE is checked so often, whatever the server wants: others may remove it. */
#define CHECK_SECONDS 2.0

bool
pull_refuse(follower *f, const char *reason, const char *text)
{
	f->reason = reason;
	return complain("%s: refused: %s", f->plan->out, text);
}

/* Refuses a list of this name where FILE is another one. */
static bool
check_name(follower *f, const char *name)
{
	const feed_who *who = &f->file.kept.who;

	return who->parts == 0 || strcmp(who->name, name) == 0 || file_refuse_list(&f->file, who->name, name);
}

bool
pull_check_list(follower *f, const char *name, const uint8_t *identity, const char *other)
{
	const feed_who *who = &f->file.kept.who;
	char		text[600];

	if (f->plan->name != NULL && strcmp(f->plan->name, name) != 0)
	{
		snprintf(text, sizeof text, "it is the list \"%s\", not \"%s\"", name, f->plan->name);
		return pull_refuse(f, "identity", text);
	}
	return check_name(f, name) &&
		(who->parts == 0 || f->plan->allow_older || memcmp(who->identity, identity, FEED_IDENTITY_BYTES) == 0 ||
		 pull_refuse(f, "identity", other));
}

/* True if FILE is as it should be; else the look is over, and maybe the follower. */
static bool
check_file(follower *f)
{
	list_file  *file = &f->file;
	bool		lost = file->lost;

	if (!file_check(file, &f->loop.over))
	{
		if (!f->loop.over)
			file_note(file, false, file->reason, last_complaint());
		return false;
	}
	/* what was found to be lost is fetched at once */
	return lost || !file->lost;
}

/* A rest of looks: until FILE needs one, too. */
static void
look_after_file(void *state, double seconds)
{
	follower   *f = state;
	double		until = monotonic_seconds() + seconds;

	while (!f->loop.over && !stop_requested() && monotonic_seconds() < until)
	{
		file_save(&f->file);
		stop_wait(-1, fmin(CHECK_SECONDS, until - monotonic_seconds()));
		if (!check_file(f) && f->file.lost)
			return;
	}
}

static void
note_look(follower *f, bool well)
{
	list_file  *file = &f->file;

	file->how.every = f->plan->follow ? (uint64_t) (f->loop.period * 1e6) : 0;
	if (!well)
		file_note(file, false, f->reason, last_complaint());
	/* else how fresh it is stays what it was */
	else if (!f->no_news)
		file_note(file, !f->waiting, f->reason, f->message);
}

/* A look of looks. */
static bool
look_once(void *state)
{
	follower   *f = state;
	list_file  *file = &f->file;
	uint64_t	before = file->kept.now.content.serial;
	uint64_t	epoch = file->kept.who.epoch;
	bool		well;

	(void) check_file(f);
	if (f->loop.over || (file->reason[0] != '\0' && !file->lost))
		return false;
	f->reason = f->way = file->reason = "";
	f->message[0] = '\0';
	f->loop.retry = 0;
	f->no_news = f->waiting = false;
	well = f->look(f);
	if (!well && f->reason[0] == '\0')
		f->reason = file->reason[0] != '\0' ? file->reason : "no-look";
	if (!stop_requested())
		note_look(f, well);
	/* patches come each second: of these nothing is said */
	if (well && !f->plan->quiet && before != file->kept.now.content.serial && (epoch != file->kept.who.epoch || !f->plan->follow))
		announce("%s: serial %llu, %s", f->plan->out, (unsigned long long) file->kept.now.content.serial, f->way);
	return well;
}

static exit_status
status_of(const follower *f, bool well)
{
	static const char *const refusals[] = {"old", "back", "signature", "identity", "clock"};
	size_t		i;

	if (well && !f->waiting)
		return STATUS_YES;
	for (i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
		if (strcmp(f->reason, refusals[i]) == 0)
			return STATUS_NO;
	return STATUS_TROUBLE;
}

exit_status
follow(follower *f)
{
	bool		well = keep_looking(&f->loop);

	return f->loop.over ? STATUS_TROUBLE : f->plan->follow ? STATUS_YES : status_of(f, well);
}

exit_status
command_pull(int argc, char **argv)
{
	command_line line = {"pull", help, argc, argv};
	pull_plan	plan = read_plan(&line);
	follower	f = {.plan = &plan, .reason = "", .loop = {.look = look_once, .rest = look_after_file, .state = &f, .follow = plan.follow, .period = plan.every}};
	const char *name = plan.name != NULL ? plan.name : plan.list;
	exit_status status = STATUS_TROUBLE;

	stop_catch();
	if (plan.follow)
		messages_have_time();
	/* another list's file isn't touched, where that can be known before the first look */
	if (file_open(&f.file, plan.out))
		status = name != NULL && !check_name(&f, name) ? STATUS_NO : plan.url != NULL ? follow_url(&f) : follow_server(&f);
	file_close(&f.file);
	if (!plan.follow && stop_requested())
		stop_die();
	return status;
}
