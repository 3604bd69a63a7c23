//! Packet scripts: segments by number, times in milliseconds.
use super::MSS;
use prismux_tcp::engine::{Ack, AckOutcome, Engine, EngineConfig, LossNotice, Send, SendKind, SendLimits};
use prismux_units::{Duration, Instant};
use prismux_wire::KeepFactor;

/// An engine, a clock and an endless stream.
pub struct Script {
    pub engine: Engine,
    pub now: Instant,
    pub limits: SendLimits,
}

/// First unit of segment `number`.
pub fn at(number: u64) -> u64 {
    number * u64::from(MSS)
}

pub fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

impl Script {
    pub fn new(config: &EngineConfig) -> Self {
        Self {
            engine: Engine::new(config, MSS),
            now: Instant::from_secs(1),
            limits: SendLimits {
                stream_end: at(1_000_000),
                window_end: at(1_000_000),
                max_segment_bytes: MSS,
                nagle: false,
            },
        }
    }

    /// A fresh script after `segments` were exchanged at an RTT of `rtt`, then `outstanding` segments are sent.
    /// The window is what the engine made of it; only what is outstanding is fixed, by the peer's window.
    pub fn warmed(config: &EngineConfig, rtt: u64, segments: u64, outstanding: u64) -> Self {
        let mut script = Self::new(config);
        let mut acked = 0;
        while acked < segments {
            let sent = script.send().len() as u64;
            assert!(sent > 0 || script.engine.next() > at(acked), "nothing moves");
            script.pass(rtt);
            while at(acked) < script.engine.next() && acked < segments {
                acked += 1;
                script.ack(acked);
            }
            script.limits.window_end = at(segments);
        }
        script.limits.window_end = at(segments + outstanding);
        script.send();
        assert_eq!(
            script.engine.next(),
            at(segments + outstanding),
            "the window is too small for this script"
        );
        script
    }

    pub fn pass(&mut self, millis: u64) {
        self.now += ms(millis);
    }

    /// Everything the engine sends now: numbers of the segments, and how they are sent.
    pub fn send_with_kind(&mut self) -> Vec<(u64, SendKind)> {
        let mut sent = Vec::new();
        while let Some(Send { range, kind }) = self.engine.poll_send(self.now, &self.limits) {
            self.engine.on_sent(self.now, &Send { range: range.clone(), kind });
            sent.push((range.start / u64::from(MSS), kind));
        }
        self.engine.audit().expect("sums hold");
        sent
    }

    /// Numbers of the segments sent now.
    pub fn send(&mut self) -> Vec<u64> {
        self.send_with_kind().into_iter().map(|(number, _)| number).collect()
    }

    fn base(&self, cumulative: u64) -> Ack {
        Ack { cumulative: at(cumulative), is_pure: true, ..Ack::default() }
    }

    pub fn raw(&mut self, ack: &Ack) -> AckOutcome {
        let outcome = self.engine.on_ack(self.now, ack);
        self.engine.audit().expect("sums hold");
        outcome
    }

    /// A cumulative ACK: everything before segment `next` has arrived.
    pub fn ack(&mut self, next: u64) -> AckOutcome {
        self.raw(&self.base(next))
    }

    /// With SACK of segments `[first, end)` each.
    pub fn sack(&mut self, next: u64, ranges: &[(u64, u64)]) -> AckOutcome {
        let sack = ranges.iter().map(|&(first, end)| at(first)..at(end)).collect();
        self.raw(&Ack { sack, ..self.base(next) })
    }

    /// With a DSACK of segment `number`.
    pub fn dsack(&mut self, next: u64, number: u64) -> AckOutcome {
        self.raw(&Ack { dsack: Some(at(number)..at(number + 1)), ..self.base(next) })
    }

    /// With a timestamp echoed from a transmission `millis` ago.
    pub fn ack_echoing(&mut self, next: u64, millis: u64) -> AckOutcome {
        self.raw(&Ack { rtt_from_timestamp: Some(ms(millis)), ..self.base(next) })
    }

    pub fn ecn(&mut self, next: u64) -> AckOutcome {
        self.raw(&Ack { ecn_echo: true, ..self.base(next) })
    }

    /// A duplicate ACK that carries a loss notice.
    pub fn notice(&mut self, next: u64, lost: u64, path: u8, keep: f64) -> AckOutcome {
        let keep = (keep < 1.0).then_some(KeepFactor((keep * 65536.0) as u16));
        let notice = Some(LossNotice { position: at(lost), path, keep });
        self.raw(&Ack { notice, ..self.base(next) })
    }

    /// A duplicate ACK that waits for what an error of the link took, with SACK of segments `[first, end)` each.
    pub fn error(&mut self, next: u64, ranges: &[(u64, u64)]) -> AckOutcome {
        let sack = ranges.iter().map(|&(first, end)| at(first)..at(end)).collect();
        let notice = Some(LossNotice { position: at(next), path: 0, keep: None });
        self.raw(&Ack { sack, notice, ..self.base(next) })
    }

    /// Lets time reach the deadline and fires it; returns its name and how many milliseconds passed.
    pub fn fire(&mut self) -> (&'static str, u64) {
        let deadline = self.engine.deadline().expect("a timer runs");
        let passed = deadline.at - self.now;
        self.now = self.now.max(deadline.at);
        self.engine.on_timeout(self.now);
        self.engine.audit().expect("sums hold");
        (deadline.why, passed.as_millis())
    }

    /// Window in whole segments.
    pub fn window(&self) -> u64 {
        self.engine.cwnd() / u64::from(MSS)
    }

    pub fn threshold(&self) -> u64 {
        self.engine.metrics().ssthresh_bytes / u64::from(MSS)
    }
}
