//! Coupled increase: all pipes together grow like one TCP.
use super::Connection;
use crate::pipe::Pipe;
use prismux_units::Duration;

impl Connection {
    /// RFC 6356 section 3: pipes together grow like one TCP on the best of them. Called after every acknowledgement.
    pub(super) fn couple(&mut self) {
        if !self.config.coupled {
            return;
        }
        let measured = |pipe: &&Pipe| pipe.established && pipe.srtt().is_some();
        let window_and_rtt = |pipe: &Pipe| {
            let rtt = pipe.srtt().unwrap_or(Duration::ZERO).as_secs_f64().max(1e-6);
            (pipe.engine().cwnd() as f64, rtt)
        };
        let (mut total, mut best, mut rates) = (0.0, 0.0, 0.0);
        for (window, rtt) in self.pipes.iter().filter(measured).map(window_and_rtt) {
            total += window;
            best = f64::max(best, window / (rtt * rtt));
            rates += window / rtt;
        }
        if rates <= 0.0 {
            return;
        }
        let alpha = total * best / (rates * rates);
        for pipe in self.pipes.iter_mut().filter(|pipe| pipe.established) {
            let window = pipe.engine().cwnd() as f64;
            pipe.set_increase_share((alpha * window / total).min(1.0));
        }
    }
}
