//! The sender's windows as events of the run.
use super::tcp_info::TcpInfo;
use prismux_trace::event::{Event, EventSink, SharedLog};
use prismux_units::{Duration, Instant};
use std::borrow::Cow;

/// How often the sender is asked; a question costs a system call.
const INTERVAL: Duration = Duration::from_millis(10);

/// Writes down how a flow's sender stands, as long as there is a log.
#[derive(Debug)]
pub(crate) struct WindowWatch<'a> {
    log: Option<SharedLog>,
    flow: &'a str,
    next: Instant,
    /// When the flow is over; what is seen later says nothing of it.
    stop: Instant,
}

impl<'a> WindowWatch<'a> {
    /// For the flow called `flow`, which is over at `stop`.
    pub fn new(log: Option<SharedLog>, flow: &'a str, stop: Instant) -> Self {
        Self { log, flow, next: Instant::ZERO, stop }
    }

    /// Looks, if it is time; `infos` answers what is known of the connection or of each subflow.
    pub fn look(&mut self, now: Instant, infos: impl FnOnce() -> Option<Vec<TcpInfo>>) {
        let Some(log) = self.log.as_mut().filter(|_| (self.next..=self.stop).contains(&now)) else { return };
        self.next = now + INTERVAL;
        let Some(infos) = infos().filter(|infos| !infos.is_empty()) else { return };
        let sum = |of: fn(&TcpInfo) -> u64| infos.iter().map(of).sum();
        let thresholds: Option<Vec<u64>> = infos.iter().map(|info| info.ssthresh_bytes).collect();
        let srtt = infos.iter().map(TcpInfo::srtt).max().filter(|srtt| !srtt.is_zero());
        log.event(
            now,
            &Event::WindowChanged {
                flow: Cow::Borrowed(self.flow),
                cwnd_bytes: sum(|info| info.cwnd_bytes),
                ssthresh_bytes: thresholds.map(|bytes| bytes.iter().sum()),
                in_flight_bytes: sum(|info| info.in_flight_bytes),
                srtt_ns: srtt.map(Duration::as_nanos),
            },
        );
    }
}
