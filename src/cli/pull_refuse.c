/*
 * pull_refuse.c
 *	  What a pull must not replace: a file of another list, a newer one, or one that
 *	  is no filter at all.
 *
 * A server that was restored, a standby that is behind or was promoted, and another
 * database with a list of the same name all offer older content, or other content,
 * under the right name.  Look-ups of members that came since would return false: so the file stays.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "pull.h"

/* What is in the file's place. */
typedef enum old_kind
{
	OLD_NONE,					/* nothing, or an empty file */
	OLD_FILTER,					/* what begins as a filter or a manifest */
	OLD_OTHER
} old_kind;

static old_kind
kind_of(const char *path)
{
	static const char filter[] = "BLMF";
	static const char manifest[] = "bloomfilter-set ";
	char		start[sizeof manifest] = "";
	int			fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t		length = fd < 0 ? 0 : read(fd, start, sizeof start - 1);

	if (fd >= 0)
		close(fd);
	if (length <= 0)
		return OLD_NONE;
	return strncmp(start, filter, sizeof filter - 1) == 0 ||
		strncmp(start, manifest, sizeof manifest - 1) == 0 ? OLD_FILTER : OLD_OTHER;
}

static bool
refuse(const char **word, const char *which)
{
	*word = which;
	return false;
}

/* Whether the file is of the list that was asked for. */
static bool
check_list(const pull_plan *plan, const remote_set *set,
		   const bloomfilter_status *status, const char **word)
{
	const char *list = plan->list != NULL ? plan->list : "";

	if (status->identity[0] != '\0' && strcmp(status->identity, set->identity) == 0)
		return true;
	if (strcmp(status->list, list) != 0)
	{
		complain("%s: kept: it is of %s%s%s, and not of %s%s%s; --replace replaces it", plan->out,
				 status->list[0] != '\0' ? "the list \"" : "a query", status->list,
				 status->list[0] != '\0' ? "\"" : "",
				 list[0] != '\0' ? "the list \"" : "a query", list, list[0] != '\0' ? "\"" : "");
		return refuse(word, "list");
	}
	if (status->identity[0] != '\0' && !plan->new_identity)
	{
		complain("%s: kept: the server's list has the identity %s, and the file's has %s: it was made anew,"
				 " or is another database's; bloom_set_identity on the server gives it the file's,"
				 " --new-identity takes the server's", plan->out, set->identity, status->identity);
		return refuse(word, "identity");
	}
	return true;
}

/* Whether the server's content is newer than the file's. */
static bool
check_serial(const pull_plan *plan, const remote_set *set, const bloomfilter *old,
			 const bloomfilter_status *status, const char **word)
{
	int64_t		serial = strtoll(set->serial, NULL, 10);
	bool		same_list = strcmp(status->identity, set->identity) == 0;

	if (!same_list || status->serial == 0)
		return true;
	if (serial < status->serial && !plan->allow_older)
	{
		complain("%s: kept: the %s has serial %" PRId64 ", older than %" PRId64 " of the file;"
				 " --allow-older takes it", plan->out,
				 set->standby ? "standby is behind: it" : "server", serial, status->serial);
		return refuse(word, "back");
	}
	if (serial == status->serial && status->matches && old != NULL &&
		filter_info(old, -1).checksum == status->checksum && !is_remote(old, set))
	{
		complain("%s: kept: the server has another filter of the same serial %" PRId64 ": two servers"
				 " have published under one identity; --replace takes it", plan->out, serial);
		return refuse(word, "forked");
	}
	return true;
}

bool
may_replace(const pull_plan *plan, const remote_set *set, const bloomfilter *old,
			const bloomfilter_status *status, bool known, const char **word)
{
	old_kind	kind = kind_of(plan->out);

	if (plan->replace || kind == OLD_NONE)
		return true;
	if (kind == OLD_OTHER)
	{
		complain("%s: kept: it is no filter; --replace replaces it", plan->out);
		return refuse(word, "file");
	}
	if (known && !check_list(plan, set, status, word))
		return false;
	if (plan->list == NULL || (old != NULL && is_remote(old, set)))
		return true;
	if (!known || (old != NULL && !status->matches))
	{
		complain("%s: kept: nothing tells which list it is of, and which serial: \"%s.status\" is"
				 " missing or of another file; --replace replaces it", plan->out, plan->out);
		return refuse(word, "unknown");
	}
	return check_serial(plan, set, old, status, word);
}
