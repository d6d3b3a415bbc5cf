/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Choose the sink for a job's records. */
#include "spank/delivery/choose-sink.h"

#include <stdlib.h>
#include "spank/delivery/sink.h"

void nt_job_fields_fini(struct nt_job_fields *fields)
{
	for (unsigned i = 0; i < NT_SINK_KINDS; i++)
		free(fields->text[i]);
	*fields = (struct nt_job_fields){ .read_ms = 0 };
}

static enum nt_delivered merge(struct nt_job_fields *fields, const struct nt_sink_field *field,
			       enum nt_sink sink, const struct nt_admincomment_merge_step *steps,
			       size_t count, struct nt_error *err)
{
	char *merged;

	switch (nt_admincomment_merge_steps(fields->text[sink], steps, count, &merged)) {
	case NT_ADMINCOMMENT_MERGE_DONE:
		free(fields->text[sink]);
		fields->text[sink] = merged;
		fields->changed[sink] = true;
		return NT_DELIVERED_WRITTEN;
	case NT_ADMINCOMMENT_MERGE_UNCHANGED: return NT_DELIVERED_PRESENT;
	case NT_ADMINCOMMENT_MERGE_FOREIGN:
		nt_error_set(err, "its %s contains another program's data", field->name);
		return NT_DELIVERED_NOWHERE;
	case NT_ADMINCOMMENT_MERGE_NO_ROOM:
		nt_error_set(err, "its %s has no room for the record", field->name);
		return NT_DELIVERED_NOWHERE;
	default: nt_error_set(err, "no memory for the merged text"); return NT_DELIVERED_FAILED;
	}
}

enum nt_delivered nt_choose_sink(const struct nt_choose_sink *how,
				 const struct nt_admincomment_merge_step *steps, size_t count,
				 enum nt_sink *sink, struct nt_error *err)
{
	enum nt_delivered result = NT_DELIVERED_NOWHERE;
	bool read = !how->read;

	nt_error_set(err, "Slurm has no field for the record");
	for (unsigned i = 0; i < how->sinks->count && result == NT_DELIVERED_NOWHERE; i++) {
		const struct nt_sink_field *field = nt_sink_field(how->sinks->at[i]);

		*sink = how->sinks->at[i];
		if (*sink == NT_SINK_FILE) {
			if (how->write_file(how->argument, err) == 0)
				result = NT_DELIVERED_WRITTEN;
			continue;
		}
		if (!read) {
			enum nt_delivered answer = how->read(how->argument, how->fields, err);

			if (answer != NT_DELIVERED_PRESENT)
				return answer;
			read = true;
		}
		if (field && how->fields->text[*sink])
			result = merge(how->fields, field, *sink, steps, count, err);
	}
	return result;
}

bool nt_job_fields_hold(const struct nt_job_fields *fields,
			const struct nt_admincomment_merge_step *step, bool by_name)
{
	for (unsigned i = 0; i < NT_SINK_KINDS; i++) {
		const char *text = fields->text[i];

		if (text && nt_admincomment_merge_holds(text, step->step, step->record) &&
		    (!by_name || nt_admincomment_merge_shows(text, step->step)))
			return true;
	}
	return false;
}
