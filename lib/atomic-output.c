/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/atomic-output.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "lib/file.h"

static int without_memory(struct nt_error *err)
{
	return nt_error_set(err, "no memory");
}

int nt_atomic_output_begin(struct nt_atomic_output *draft, struct nt_error *err)
{
	*draft = (struct nt_atomic_output){ .text = NULL };
	draft->out = open_memstream(&draft->text, &draft->bytes);
	return draft->out ? 0 : without_memory(err);
}

int nt_atomic_output_end(struct nt_atomic_output *draft, int rc, const char *path, mode_t mode,
			 struct nt_error *err)
{
	if (fclose(draft->out) != 0)
		rc = without_memory(err);
	if (rc == 0 && strcmp(path, "-") == 0)
		fwrite(draft->text, 1, draft->bytes, stdout);
	else if (rc == 0)
		rc = nt_file_replace(AT_FDCWD, path, draft->text, draft->bytes, mode, err);
	free(draft->text);
	return rc;
}
