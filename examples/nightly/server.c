/*
 * server.c
 *	  server FILE SOCKET: answers whether keys are in the filter of FILE.
 *
 * Reads lines with one integer each, and answers each with a line: 1 (perhaps) or
 * 0 (surely not).  A thread for each connection, which has a reader of its own; a
 * look-up takes the new filter when FILE was replaced.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <libbloomfilter.h>

static bloomfilter_watched *customers;

static void
die(const char *what)
{
	fprintf(stderr, "server: %s\n", what);
	exit(1);
}

/* One answer, by the filter of this moment. */
static int
ask(bloomfilter_reader *reader, int64_t key)
{
	const bloomfilter *filter = bloomfilter_reader_enter(reader);
	int			answer = bloomfilter_contains_int64(filter, key);

	bloomfilter_reader_leave(reader);
	return answer;
}

static void *
serve(void *argument)
{
	int			fd = *(int *) argument;
	FILE	   *in = fdopen(fd, "r");
	FILE	   *out = fdopen(dup(fd), "w");
	bloomfilter_reader *reader;
	int64_t		key;

	free(argument);
	if (in == NULL || out == NULL ||
		bloomfilter_reader_open(customers, &reader) != BLOOMFILTER_OK)
		die("out of memory or descriptors");
	setvbuf(out, NULL, _IOLBF, 0);
	while (fscanf(in, "%" SCNd64, &key) == 1)
	{
		int			answer = ask(reader, key);

		/* An error is never a "no". */
		if (answer < 0)
			die(bloomfilter_strerror(answer));
		fprintf(out, "%d\n", answer);
	}
	bloomfilter_reader_close(reader);
	fclose(in);
	fclose(out);
	return NULL;
}

static void
start_thread(void *(*run) (void *), void *argument)
{
	pthread_t	thread;

	if (pthread_create(&thread, NULL, run, argument) != 0)
		die("can't start a thread");
	pthread_detach(thread);
}

static int
listen_on(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int			fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (strlen(path) >= sizeof address.sun_path)
		die("the socket's name is too long");
	strcpy(address.sun_path, path);
	/* What the run before has left. */
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *) &address, sizeof address) != 0 ||
		listen(fd, 64) != 0)
		die("can't listen");
	return fd;
}

int
main(int argc, char **argv)
{
	bloomfilter_detail detail;
	int			listener;

	if (argc != 3)
		die("usage: server FILE SOCKET");
	if (bloomfilter_watched_open(argv[1], 0, NULL, &customers, &detail) != BLOOMFILTER_OK)
		die(detail.text);
	signal(SIGPIPE, SIG_IGN);
	listener = listen_on(argv[2]);
	for (;;)
	{
		int		   *fd = malloc(sizeof *fd);

		if (fd == NULL)
			die("out of memory");
		*fd = accept(listener, NULL, NULL);
		if (*fd < 0)
			free(fd);
		else
			start_thread(serve, fd);
	}
}
