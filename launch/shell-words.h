/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* shell-words.h - the commands of a shell's text, as lists of words
 *
 * Enough of a shell's grammar to see which programs a text starts: quotes, comments, continued
 * lines, redirections, here-documents; what separates commands; brackets as separators. Nothing is
 * expanded: a word keeps its $NAME, $(...) and `...`. Keywords are words.
 *
 * Threads:  pure.
 * Memory:   the caller's.
 * Errors:   none; an open quote ends with the text.
 */
#ifndef NT_SHELL_WORDS_H
#define NT_SHELL_WORDS_H

/* Takes the next command off *text. Its words lie in buffer, which has strlen(*text) + 2 bytes;
 * those beyond max are dropped. Returns their number, which may be 0; -1 at the end. */
int nt_shell_words(const char **text, char *buffer, char *words[], int max);

#endif
