/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/watch/display.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include "lib/clock.h"
#include "lib/printable.h"

#define COLUMNS 80
#define ROWS 24

#define TAKE "\033[?1049h\033[?25l" /* the second screen, without a cursor */
#define GIVE "\033[0m\033[?25h\033[?1049l"
#define HOME "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_BELOW "\033[J"

/* Static, since signal handlers have no argument. */
static struct {
	volatile sig_atomic_t taken, resized;
	bool typing; /* the terminal's input mode was changed */
	bool colours;
	struct termios before;
} screen;

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* Also called by signal handlers. There is nothing to do if it fails. */
static void say(const char *sequence, size_t bytes)
{
	(void)!write(STDOUT_FILENO, sequence, bytes);
}

static void take(void)
{
	struct termios quiet = screen.before;

	quiet.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	quiet.c_cc[VMIN] = 0;
	quiet.c_cc[VTIME] = 0;
	if (screen.typing)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
	say(TAKE, sizeof(TAKE) - 1);
	screen.taken = 1;
}

static void give(void)
{
	if (!screen.taken)
		return;
	screen.taken = 0;
	say(GIVE, sizeof(GIVE) - 1);
	if (screen.typing)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &screen.before);
}

/* The signal ends the process when the handler returns. */
static void on_end(int number)
{
	give();
	signal(number, SIG_DFL);
	raise(number);
}

static bool in_background(void)
{
	const pid_t group = tcgetpgrp(STDOUT_FILENO);

	return group >= 0 && group != getpgrp();
}

/* Returns when the process continues in the foreground. */
static void on_stop(int number)
{
	const int before = errno;

	(void)number;
	give();
	do
		raise(SIGSTOP);
	while (in_background());
	take();
	screen.resized = 1;
	errno = before;
}

static void on_resize(int number)
{
	(void)number;
	screen.resized = 1;
}

static void catch_signal(int number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	/* Handlers do not interrupt each other. */
	sigfillset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

static void catch_signals(void)
{
	struct sigaction present;

	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		/* nohup and a shell's '&' ignore some of them. */
		if (sigaction(ending[i], NULL, &present) == 0 && present.sa_handler != SIG_IGN)
			catch_signal(ending[i], on_end);
	}
	catch_signal(SIGTSTP, on_stop);
	catch_signal(SIGWINCH, on_resize);
}

static bool is_usable(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && term[0] && strcmp(term, "dumb") != 0;
}

bool nt_screen_begin(void)
{
	const char *no_colour = getenv("NO_COLOR");

	if (!is_usable())
		return false;
	screen.colours = !no_colour || !no_colour[0];
	screen.typing = !in_background() && isatty(STDIN_FILENO) &&
			tcgetattr(STDIN_FILENO, &screen.before) == 0;
	catch_signals();
	atexit(give);
	take();
	return true;
}

void nt_screen_end(void)
{
	give();
}

void nt_screen_size(unsigned *columns, unsigned *rows)
{
	struct winsize size = { .ws_col = 0 };

	*columns = COLUMNS;
	*rows = ROWS;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return;
	*columns = size.ws_col ? size.ws_col : COLUMNS;
	*rows = size.ws_row ? size.ws_row : ROWS;
	if (*columns > NT_SCREEN_COLUMNS)
		*columns = NT_SCREEN_COLUMNS;
}

/* ---- drawing */

struct piece {
	char text[8192];
	size_t bytes;
	int rc;
};

static void flush(struct piece *piece)
{
	const char *at = piece->text;

	while (piece->bytes > 0 && piece->rc == 0) {
		ssize_t n = write(STDOUT_FILENO, at, piece->bytes);

		if (n < 0 && errno != EINTR && errno != EAGAIN)
			piece->rc = -1;
		at += n > 0 ? n : 0;
		piece->bytes -= n > 0 ? (size_t)n : 0;
	}
	piece->bytes = 0;
}

static void add(struct piece *piece, const char *text, size_t bytes)
{
	if (bytes > sizeof(piece->text) - piece->bytes)
		flush(piece);
	memcpy(piece->text + piece->bytes, text, bytes);
	piece->bytes += bytes;
}

static void add_sequence(struct piece *piece, const char *sequence)
{
	add(piece, sequence, strlen(sequence));
}

static void add_line(struct piece *piece, const struct nt_screen_line *line, unsigned columns)
{
	static const char *const styles[NT_STYLES] = {
		[NT_STYLE_PLAIN] = "",
		[NT_STYLE_BOLD] = "\033[1m",
		[NT_STYLE_DIM] = "\033[2m",
		[NT_STYLE_GOOD] = "\033[32m",
	};
	const bool styled = screen.colours || line->style == NT_STYLE_BOLD;
	char text[NT_SCREEN_COLUMNS + 1];

	/* The last column stays empty: clearing to the end of the line would erase it. */
	(void)nt_printable_copy(text, columns, line->text, strlen(line->text));
	if (styled)
		add_sequence(piece, styles[line->style]);
	add(piece, text, strlen(text));
	if (styled && line->style != NT_STYLE_PLAIN)
		add_sequence(piece, "\033[0m");
	add_sequence(piece, CLEAR_LINE);
}

int nt_screen_draw(const struct nt_screen_line *lines, size_t count)
{
	struct piece piece = { .bytes = 0 };
	unsigned columns, rows;

	nt_screen_size(&columns, &rows);
	add_sequence(&piece, HOME);
	for (size_t i = 0; i < count && i < rows; i++) {
		if (i > 0)
			add_sequence(&piece, "\r\n");
		add_line(&piece, &lines[i], columns);
	}
	add_sequence(&piece, CLEAR_BELOW);
	flush(&piece);
	return piece.rc;
}

/* ---- waiting */

/* False: end of input. */
static bool read_typed(bool *quit)
{
	char typed[64];
	ssize_t n = read(STDIN_FILENO, typed, sizeof(typed));

	for (ssize_t i = 0; i < n; i++)
		*quit = *quit || typed[i] == 'q' || typed[i] == 'Q';
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

bool nt_screen_wait(int wait_ms, bool *quit)
{
	const int64_t until_ms = nt_clock_ms() + wait_ms;
	struct pollfd typed = { .fd = screen.typing ? STDIN_FILENO : -1, .events = POLLIN };
	int64_t left_ms = wait_ms;

	while (left_ms > 0 && !screen.resized && !*quit) {
		int ready = poll(&typed, 1, (int)left_ms);

		if (ready > 0 && !read_typed(quit))
			typed.fd = -1;
		left_ms = until_ms - nt_clock_ms();
	}
	if (!screen.resized)
		return false;
	screen.resized = 0;
	return true;
}
