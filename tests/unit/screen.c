/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* screen.c - the terminal is drawn on, and restored however the program ends */
#include "report/watch/display.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <cmocka.h>

/* The terminal itself writes each "\\n" as "\\r\\n". */
#define TAKE "\033[?1049h\033[?25l"
#define GIVE "\033[0m\033[?25h\033[?1049l"

/* The output to a terminal, and the end of the process. */
struct seen {
	char text[65536];
	size_t bytes;
	int status;
	bool echoes; /* typed characters are echoed, as before */
};

/* Until it has sent text. */
static void await(int terminal, struct seen *seen, const char *text)
{
	while (!strstr(seen->text, text)) {
		ssize_t n = read(terminal, seen->text + seen->bytes,
				 sizeof(seen->text) - 1 - seen->bytes);

		if (n <= 0)
			fail_msg("it ended without sending it");
		seen->bytes += (size_t)n;
	}
}

static void become_user_of(int terminal, const struct winsize *size)
{
	int fd;

	setsid();
	fd = open(ptsname(terminal), O_RDWR);
	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) < 0 || ioctl(fd, TIOCSWINSZ, size) < 0)
		_exit(99);
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
}

/* play() in a process with its own terminal, and meet() at the terminal's other end. */
static void on_terminal(struct seen *seen, void (*play)(void),
			void (*meet)(int, pid_t, struct seen *))
{
	const struct winsize size = { .ws_row = 5, .ws_col = 20 };
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), other;
	struct termios now;
	pid_t pid;

	memset(seen, 0, sizeof(*seen));
	assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
	other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	assert_true(other >= 0);
	setenv("TERM", "xterm", 1);
	pid = fork();
	if (pid == 0) {
		alarm(600);
		become_user_of(terminal, &size);
		play();
		exit(0);
	}
	meet(terminal, pid, seen);
	assert_int_equal(waitpid(pid, &seen->status, 0), pid);
	assert_int_equal(tcgetattr(other, &now), 0);
	seen->echoes = (now.c_lflag & ECHO) != 0;
	close(other);
	close(terminal);
}

static void draw(const char *text)
{
	const struct nt_screen_line lines[] = { { NT_STYLE_BOLD, "bold" }, { NT_STYLE_GOOD, "" } };
	struct nt_screen_line both[2];

	memcpy(both, lines, sizeof(both));
	snprintf(both[1].text, sizeof(both[1].text), "%s", text);
	if (nt_screen_draw(both, 2) < 0)
		_exit(98);
}

static void play_and_wait(void)
{
	bool quit = false;

	if (!nt_screen_begin())
		_exit(97);
	draw("first");
	while (!quit) {
		if (nt_screen_wait(600000, &quit))
			draw("again");
	}
	nt_screen_end();
}

static void type_q(int terminal, pid_t pid, struct seen *seen)
{
	(void)pid;
	await(terminal, seen, "first");
	assert_int_equal(write(terminal, "q", 1), 1);
	await(terminal, seen, GIVE);
}

static void all_is_drawn_and_given_back(void **state)
{
	static struct seen seen;

	(void)state;
	on_terminal(&seen, play_and_wait, type_q);
	assert_int_equal(seen.status, 0);
	assert_true(seen.echoes);
	assert_string_equal(seen.text, TAKE "\033[H\033[1mbold\033[0m\033[K\r\r\n"
					    "\033[32mfirst\033[0m\033[K\033[J" GIVE);
}

static void type_control_c(int terminal, pid_t pid, struct seen *seen)
{
	(void)pid;
	await(terminal, seen, "first");
	assert_int_equal(write(terminal, "\003", 1), 1);
	await(terminal, seen, GIVE);
}

static void a_signal_ends_it_as_it_would_without(void **state)
{
	static struct seen seen;

	(void)state;
	on_terminal(&seen, play_and_wait, type_control_c);
	assert_true(WIFSIGNALED(seen.status) && WTERMSIG(seen.status) == SIGINT);
	assert_true(seen.echoes);
}

/* While stopped, the terminal is restored; then everything is drawn again. */
static void stop_and_go_on(int terminal, pid_t pid, struct seen *seen)
{
	int status;

	await(terminal, seen, "first");
	assert_int_equal(kill(pid, SIGTSTP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	await(terminal, seen, GIVE);
	seen->bytes = 0;
	memset(seen->text, 0, sizeof(seen->text));
	assert_int_equal(kill(pid, SIGCONT), 0);
	await(terminal, seen, "again");
	assert_non_null(strstr(seen->text, TAKE));
	assert_int_equal(write(terminal, "q", 1), 1);
	await(terminal, seen, GIVE);
}

static void it_may_be_stopped(void **state)
{
	static struct seen seen;

	(void)state;
	on_terminal(&seen, play_and_wait, stop_and_go_on);
	assert_int_equal(seen.status, 0);
	assert_true(seen.echoes);
}

/* The kernel signals the foreground process. */
static void resize(int terminal, pid_t pid, struct seen *seen)
{
	const struct winsize size = { .ws_row = 9, .ws_col = 30 };

	(void)pid;
	await(terminal, seen, "first");
	assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
	await(terminal, seen, "again");
	assert_int_equal(write(terminal, "q", 1), 1);
	await(terminal, seen, GIVE);
}

static void another_size_draws_it_anew(void **state)
{
	static struct seen seen;

	(void)state;
	on_terminal(&seen, play_and_wait, resize);
	assert_int_equal(seen.status, 0);
}

static void play_hostile(void)
{
	static struct nt_screen_line lines[9];

	setenv("NO_COLOR", "1", 1);
	if (!nt_screen_begin())
		_exit(97);
	for (size_t i = 0; i < 9; i++)
		lines[i].style = NT_STYLE_DIM;
	snprintf(lines[0].text, sizeof(lines[0].text),
		 "a\033[2Jb\r\n\302\233Hc and much more than the terminal has columns");
	nt_screen_draw(lines, 9);
	nt_screen_end();
}

static void await_end(int terminal, pid_t pid, struct seen *seen)
{
	(void)pid;
	await(terminal, seen, GIVE);
}

static void nothing_else_steers_the_terminal(void **state)
{
	static struct seen seen;

	(void)state;
	on_terminal(&seen, play_hostile, await_end);
	assert_int_equal(seen.status, 0);
	assert_string_equal(seen.text,
			    TAKE "\033[Ha?[2Jb????Hc and mu\033[K"
				 "\r\r\n\033[K\r\r\n\033[K\r\r\n\033[K\r\r\n\033[K\033[J" GIVE);
}

static void play_dumb(void)
{
	setenv("TERM", "dumb", 1);
	if (nt_screen_begin())
		_exit(96);
	unsetenv("TERM");
	if (nt_screen_begin())
		_exit(95);
	(void)!write(STDOUT_FILENO, "no", 2);
}

static void await_no(int terminal, pid_t pid, struct seen *seen)
{
	(void)pid;
	await(terminal, seen, "no");
}

static void what_is_no_terminal_is_left_alone(void **state)
{
	static struct seen seen;

	(void)state;
	on_terminal(&seen, play_dumb, await_no);
	assert_int_equal(seen.status, 0);
	assert_string_equal(seen.text, "no");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_drawn_and_given_back),
		cmocka_unit_test(a_signal_ends_it_as_it_would_without),
		cmocka_unit_test(it_may_be_stopped),
		cmocka_unit_test(another_size_draws_it_anew),
		cmocka_unit_test(nothing_else_steers_the_terminal),
		cmocka_unit_test(what_is_no_terminal_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
