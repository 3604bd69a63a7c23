//! Events that the daemons of a lab tell on their status pages, put into the log of the run.
use prismux_trace::event::{Event, EventSink, SharedLog};
use prismux_units::{Duration, Instant};
use serde::Deserialize;
use serde_json::Value;

/// What has been taken from one daemon's pages.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DaemonEvents {
    /// Number of the next event that is new.
    next: u64,
    /// How long the daemon had run when it was asked last; a shorter time is another process, which counts anew.
    uptime: Duration,
}

/// An event on a status page.
#[derive(Debug, Deserialize)]
struct Shown {
    number: u64,
    time_ns: u64,
    #[serde(flatten)]
    event: Event<'static>,
}

impl DaemonEvents {
    /// Writes the new events of a `page` that was read at `now` to `log`, in the time of the run. What happened
    /// before the run began happened at its begin.
    pub fn take(&mut self, now: Instant, page: &Value, log: &mut SharedLog) {
        let Some(uptime) = page["uptime_s"].as_f64().map(Duration::from_secs_f64) else { return };
        if uptime < self.uptime {
            self.next = 0;
        }
        self.uptime = uptime;
        for shown in page["events"].as_array().into_iter().flatten() {
            // An event that this version of the lab does not know is none for its log.
            let Ok(shown) = Shown::deserialize(shown) else { continue };
            if shown.number >= self.next {
                self.next = shown.number + 1;
                let age = uptime.saturating_sub(Duration::from_nanos(shown.time_ns));
                log.event(
                    Instant::ZERO + now.saturating_since(Instant::ZERO).saturating_sub(age),
                    &shown.event,
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prismux_trace::SharedBytes;
    use prismux_trace::event::read_json_lines;
    use serde_json::json;

    #[test]
    fn each_event_is_taken_once_and_in_the_time_of_the_run() {
        let text = SharedBytes::default();
        let mut log = SharedLog::new(Box::new(text.clone()));
        let event = |number: u64, time_ns: u64| {
            let member = format!("m{number}");
            json!({ "number": number, "time_ns": time_ns, "event": "member_left", "member": member })
        };
        let page = |uptime_s: f64, events: Vec<Value>| json!({ "uptime_s": uptime_s, "events": events });
        let mut taken = DaemonEvents::default();
        // The daemon is three seconds older than the run.
        taken.take(
            Instant::from_secs(1),
            &page(4.0, vec![event(0, 2_000_000_000), event(1, 3_500_000_000)]),
            &mut log,
        );
        taken.take(
            Instant::from_secs(2),
            &page(5.0, vec![event(1, 3_500_000_000), event(2, 4_000_000_000)]),
            &mut log,
        );
        // Killed and started again.
        taken.take(Instant::from_secs(3), &page(0.5, vec![event(0, 0)]), &mut log);
        log.finish().unwrap();
        let records = read_json_lines(&text.take()[..]).unwrap();
        let seen: Vec<_> = records.iter().map(|record| record.time_ns / 1_000_000).collect();
        assert_eq!(seen, [0, 500, 1000, 2500]);
    }
}
