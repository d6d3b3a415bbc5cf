/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* screen.h - the whole terminal, drawn anew again and again, and given back as it was
 *
 * The terminal's second screen is used, so that what stood on it is there again afterwards. It is
 * given back whatever ends the process: its end, or a signal that ends or stops it. A stopped
 * process that goes on takes it again.
 *
 * Nothing is interpreted of what is drawn: of each line only printable ASCII is written, as much of
 * it as the terminal is wide.
 *
 * Threads:  the main thread; there is one screen.
 * Memory:   none.
 * Errors:   begin: false where there is no terminal that could be used; draw: -1 and errno.
 * Host:     a terminal that knows the control sequences of ECMA-48 and xterm's second screen, as
 *           all do that are in use.
 */
#ifndef NT_SCREEN_H
#define NT_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

enum nt_style { NT_STYLE_PLAIN, NT_STYLE_BOLD, NT_STYLE_DIM, NT_STYLE_GOOD, NT_STYLES };

#define NT_SCREEN_COLUMNS 240 /* more of a terminal is left empty */

struct nt_line {
	enum nt_style style;
	char text[NT_SCREEN_COLUMNS + 1];
};

/* Is standard output a terminal that can be drawn on? TERM says what it can do. */
bool nt_screen_usable(void);
bool nt_screen_begin(void);
void nt_screen_end(void); /* more than once is fine */

void nt_screen_size(unsigned *columns, unsigned *rows);
/* What is more than the terminal has rows is left out. */
int nt_screen_draw(const struct nt_line *lines, size_t count);

/* Sleeps so long. Earlier back, and true, where all is to be drawn anew: the terminal has another
 * size, or was taken again. *quit: 'q' was typed. */
bool nt_screen_wait(int wait_ms, bool *quit);

#endif
