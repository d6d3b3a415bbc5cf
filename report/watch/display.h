/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* display.h - draw on the whole terminal again and again, and restore it at the end
 *
 * It uses the terminal's second screen, so the first one is unchanged afterwards. The terminal is
 * restored when the process exits, and when a signal ends or stops it; a stopped process that
 * continues takes it again.
 *
 * Of each line only printable ASCII is written, cut to the width of the terminal.
 *
 * Threads:  the main thread; there is one screen.
 * Memory:   none.
 * Errors:   begin: false if there is no usable terminal; draw: -1 and errno.
 * Host:     a terminal with the control sequences of ECMA-48 and xterm's second screen, as all in
 *           use have.
 */
#ifndef NT_DISPLAY_H
#define NT_DISPLAY_H

#include <stdbool.h>
#include <stddef.h>

enum nt_style { NT_STYLE_PLAIN, NT_STYLE_BOLD, NT_STYLE_DIM, NT_STYLE_GOOD, NT_STYLES };

#define NT_SCREEN_COLUMNS 240 /* a wider terminal stays empty there */

struct nt_screen_line {
	enum nt_style style;
	char text[NT_SCREEN_COLUMNS + 1];
};

/* false: standard output is not a terminal that can be drawn on, according to TERM. */
bool nt_screen_begin(void);
void nt_screen_end(void); /* more than once is fine */

void nt_screen_size(unsigned *columns, unsigned *rows);
/* Lines beyond the terminal's rows are left out. */
int nt_screen_draw(const struct nt_screen_line *lines, size_t count);

/* Sleeps for wait_ms. Returns early and true if everything must be redrawn: the terminal has
 * another size, or the process continues. *quit: 'q' was typed. */
bool nt_screen_wait(int wait_ms, bool *quit);

#endif
