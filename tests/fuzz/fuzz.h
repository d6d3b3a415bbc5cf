/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - what the targets of libFuzzer share: bytes to fields, checks, and changes by words
 *
 * A target is one file with LLVMFuzzerTestOneInput(); a check that fails aborts, and libFuzzer
 * writes the input to a file.
 *
 * Threads:  one.
 * Memory:   texts that fuzz_text() gives are the caller's to free; they are as large as what is in
 *           them, so that the address sanitizer sees a look behind their end.
 */
#ifndef NT_FUZZ_H
#define NT_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

#define FUZZ_CHECK(condition)                                                                   \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                \
		}                                                                               \
	} while (0)

/* What is left of an input; behind its end there are zeros. */
struct fuzz {
	const uint8_t *at;
	size_t left;
};

uint64_t fuzz_number(struct fuzz *in, unsigned bytes); /* the first byte is the lowest */
uint32_t fuzz_below(struct fuzz *in, uint32_t limit); /* of at most two bytes */
/* Mostly small, sometimes a bound of a type. */
uint64_t fuzz_odd_number(struct fuzz *in);
void fuzz_bytes(struct fuzz *in, void *out, size_t bytes);

/* A copy with a NUL behind it. */
char *fuzz_text(const void *bytes, size_t count);
/* The next part of an input up to the separator, as fuzz_text(); NULL at the end. */
char *fuzz_part(struct fuzz *in, char separator);

/* Aborts where text holds anything but printable ASCII and ends of lines. */
void fuzz_check_plain(const char *text, size_t bytes);

/* A file that only this process sees, with a path to it; the last one is overwritten. */
const char *fuzz_file(const void *bytes, size_t count);

/* What call() writes to stdout and stderr must be plain; libFuzzer's own is not concerned. */
void fuzz_check_output(void (*call)(void *arg), void *arg);

/* A mutator for text: words, numbers, lines, and what stands between brackets are taken out,
 * doubled, put elsewhere, or replaced by others and by those of a list that ends with NULL. */
size_t fuzz_mutate_text(uint8_t *data, size_t size, size_t max_size, unsigned seed,
			const char *const words[]);

#define FUZZ_TEXT_TARGET(...)                                                                      \
	size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) \
	{                                                                                          \
		static const char *const words[] = { __VA_ARGS__, NULL };                          \
                                                                                                   \
		return fuzz_mutate_text(data, size, max_size, seed, words);                        \
	}

#endif
