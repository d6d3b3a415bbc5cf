/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A limit of processor time (ulimit -t) ends a run in good order: libFuzzer stops at this signal,
 * with status 0. */
static void on_time(int number)
{
	(void)number;
	(void)raise(SIGUSR1);
}

__attribute__((constructor)) static void watch_time(void)
{
	(void)signal(SIGXCPU, on_time);
}

uint64_t fuzz_number(struct fuzz *in, unsigned bytes)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < bytes && in->left > 0; i++, in->at++, in->left--)
		number |= (uint64_t)*in->at << (8 * i);
	return number;
}

uint32_t fuzz_below(struct fuzz *in, uint32_t limit)
{
	return (uint32_t)fuzz_number(in, limit > 256 ? 2 : 1) % limit;
}

uint64_t fuzz_odd_number(struct fuzz *in)
{
	static const uint64_t bounds[] = {
		0,	    1,	      INT32_MAX,	 UINT32_MAX, INT64_MAX,
		UINT64_MAX, 1u << 31, UINT64_C(1) << 32, UINT16_MAX, UINT64_MAX - 1
	};
	const unsigned how = fuzz_below(in, 16);

	if (how < sizeof(bounds) / sizeof(bounds[0]))
		return bounds[how];
	return fuzz_number(in, how < 14 ? 1 : 8);
}

void fuzz_bytes(struct fuzz *in, void *out, size_t bytes)
{
	const size_t have = bytes < in->left ? bytes : in->left;

	memset(out, 0, bytes);
	if (have > 0)
		memcpy(out, in->at, have);
	in->at += have;
	in->left -= have;
}

char *fuzz_text(const void *bytes, size_t count)
{
	char *text = malloc(count + 1);

	FUZZ_CHECK(text != NULL);
	if (count > 0)
		memcpy(text, bytes, count);
	text[count] = '\0';
	return text;
}

char *fuzz_part(struct fuzz *in, char separator)
{
	const uint8_t *end;
	size_t count;
	char *text;

	if (in->left == 0)
		return NULL;
	end = memchr(in->at, separator, in->left);
	count = end ? (size_t)(end - in->at) : in->left;
	text = fuzz_text(in->at, count);
	count += end != NULL;
	in->at += count;
	in->left -= count;
	return text;
}

void fuzz_check_plain(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if ((text[i] >= ' ' && text[i] <= '~') || text[i] == '\n')
			continue;
		fprintf(stderr, "byte %u is printed, behind: ", (unsigned char)text[i]);
		fwrite(text + (i < 60 ? 0 : i - 60), 1, i < 60 ? i : 60, stderr);
		fputc('\n', stderr);
		abort();
	}
}

const char *fuzz_file(const void *bytes, size_t count)
{
	static char path[40];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0);
	FUZZ_CHECK(pwrite(fd, bytes, count, 0) == (ssize_t)count);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

void fuzz_check_output(void (*call)(void *arg), void *arg)
{
	FILE *out = stdout, *complaints = stderr;
	char *text = NULL;
	size_t bytes = 0;
	FILE *both = open_memstream(&text, &bytes);

	FUZZ_CHECK(both != NULL);
	stdout = stderr = both;
	call(arg);
	stdout = out;
	stderr = complaints;
	fclose(both);
	fuzz_check_plain(text, bytes);
	free(text);
}

/* ---- changes by words */

struct text {
	uint8_t *at;
	size_t size, max;
	uint64_t seed;
};

static size_t draw(struct text *t, size_t limit)
{
	t->seed = t->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return limit ? (size_t)(t->seed >> 33) % limit : 0;
}

static bool in_word(uint8_t c)
{
	return isalnum(c) || c == '_' || c == '.' || c == '-' || c == '+' || c > 126;
}

/* Where the word, text or bracket that begins here ends. */
static size_t end_of(const struct text *t, size_t from)
{
	size_t at = from, depth = 0;

	if (at >= t->size)
		return at;
	if (in_word(t->at[at])) {
		while (at < t->size && in_word(t->at[at]))
			at++;
		return at;
	}
	if (t->at[at] == '"') {
		for (at++; at < t->size && t->at[at] != '"'; at++)
			at += t->at[at] == '\\';
		return at < t->size ? at + 1 : t->size;
	}
	do {
		depth += t->at[at] == '{' || t->at[at] == '[';
		depth -= depth > 0 && (t->at[at] == '}' || t->at[at] == ']');
		at++;
	} while (depth > 0 && at < t->size);
	return at;
}

/* The start of some word, never within one. */
static size_t some_start(struct text *t)
{
	size_t at = draw(t, t->size);

	while (at > 0 && in_word(t->at[at]) && in_word(t->at[at - 1]))
		at--;
	return at;
}

static void line_around(struct text *t, size_t *from, size_t *end)
{
	*from = *end = draw(t, t->size);
	while (*from > 0 && t->at[*from - 1] != '\n')
		--*from;
	while (*end < t->size && t->at[*end] != '\n')
		++*end;
	*end += *end < t->size;
}

/* Puts bytes in the place of those from..end; nothing happens where there is no room. */
static void put(struct text *t, size_t from, size_t end, const void *bytes, size_t count)
{
	uint8_t *copy;

	if (t->size - (end - from) + count > t->max)
		return;
	copy = malloc(count + 1);
	if (!copy)
		return;
	memcpy(copy, bytes, count); /* it may be of this text */
	memmove(t->at + from + count, t->at + end, t->size - end);
	memcpy(t->at + from, copy, count);
	t->size = t->size - (end - from) + count;
	free(copy);
}

static void put_word(struct text *t, size_t from, size_t end, const char *const words[])
{
	size_t count = 0;
	const char *word;

	while (words[count])
		count++;
	word = words[draw(t, count)];
	put(t, from, end, word, strlen(word));
}

static void put_number(struct text *t, size_t from, size_t end)
{
	static const char *const numbers[] = {
		"0",
		"-1",
		"1",
		"1e308",
		"-1e-308",
		"2147483648",
		"4294967295",
		"18446744073709551615",
		"9223372036854775807",
		"-9223372036854775808",
		"0.5",
		"nan",
		"inf",
		"1e15",
		"00",
		"1000000000000000",
		"65536",
		"255",
		"64",
		"3",
		"0x10",
		"1e-9",
	};
	char small[24];

	if (draw(t, 2))
		put_word(t, from, end, (const char *const[]){ numbers[draw(t, 22)], NULL });
	else
		put(t, from, end, small,
		    (size_t)snprintf(small, sizeof(small), "%zu", draw(t, 100000)));
}

size_t fuzz_mutate_text(uint8_t *data, size_t size, size_t max_size, unsigned seed,
			const char *const words[])
{
	struct text t = { .at = data, .size = size, .max = max_size, .seed = seed };
	size_t from, end, other;

	(void)draw(&t, 1);
	if (size == 0 || draw(&t, 3) == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	for (size_t n = 1 + draw(&t, 3); n > 0; n--) {
		from = some_start(&t);
		end = end_of(&t, from);
		other = some_start(&t);
		switch (draw(&t, 9)) {
		case 0: put(&t, from, end, "", 0); break;
		case 1: put(&t, other, other, t.at + from, end - from); break;
		case 2: put(&t, other, end_of(&t, other), t.at + from, end - from); break;
		case 3: put_word(&t, from, end, words); break;
		case 4: put_word(&t, from, from, words); break;
		case 5:
		case 6: put_number(&t, from, end); break;
		case 7:
			line_around(&t, &from, &end);
			put(&t, from, end, "", 0);
			break;
		default: line_around(&t, &from, &end); put(&t, end, end, t.at + from, end - from);
		}
		if (t.size == 0)
			break;
	}
	return t.size;
}
