#include "gpud/report.h"

#include "shm/member.h"

enum { KEYS_REPORTED = 64 };

json_t *report_stages(const struct pipeline_times *t)
{
    const struct groth16_timings *p = &t->prove;
    return json_pack("{s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f}", "prove_queue", t->queue,
                     "key", t->key, "copy", t->copy, "ntt", p->ntt, "msm_h", p->msm_h, "msm_a",
                     p->msm_a, "msm_b1", p->msm_b1, "msm_b2", p->msm_b2, "msm_c", p->msm_c,
                     "assemble", p->assemble, "verify", t->verify);
}

static json_t *running(struct pipeline *p)
{
    struct pipeline_running list[PIPELINE_JOBS];
    unsigned n = pipeline_list(p, list);
    json_t *all = json_array();
    for (unsigned i = 0; i < n; i++)
        json_array_append_new(all, json_pack("[I,I,s,I]", (json_int_t)list[i].handle.slot,
                                             (json_int_t)list[i].handle.generation, list[i].stage,
                                             (json_int_t)list[i].estimate_ms));
    return all;
}

static json_t *loaded_keys(struct keys *k)
{
    struct key_status list[KEYS_REPORTED];
    size_t n = keys_list(k, list, KEYS_REPORTED);
    json_t *all = json_array();
    for (size_t i = 0; i < n && i < KEYS_REPORTED; i++)
        json_array_append_new(all,
                              json_pack("{s:s, s:s, s:I}", "circuit", list[i].circuit, "resident",
                                        "device", "bytes", (json_int_t)list[i].bytes));
    return all;
}

json_t *report_progress(struct report *r, struct pipeline *p, struct keys *k,
                        const struct backend *device, double now_ms)
{
    struct pipeline_totals t = pipeline_totals(p);
    double passed = now_ms - r->at_ms, copying = t.copy_ms - r->totals.copy_ms;
    double busy = r->at_ms > 0 && passed > 0 ? (t.busy_ms - r->totals.busy_ms) / passed : 0;
    double bytes = (double)(t.copied_bytes - r->totals.copied_bytes);
    json_t *status = json_pack(
        "{s:s, s:f, s:f, s:I}", "name", device->name, "busy", busy < 1 ? busy : 1, "copy_gbps",
        copying > 0 ? bytes / copying * 1e-6 : 0.0, "faults", (json_int_t)t.device_faults);
    r->totals = t;
    r->at_ms = now_ms;
    return json_pack("{s:o, s:[o], s:o, s:i}", "running", running(p), "devices", status, "keys",
                     loaded_keys(k), "resynth", 0);
}
