//! Windows that shrink, pipes that end, and the timers of the connection itself.
use super::{Connection, State};
use crate::config::Reassignment;
use crate::event::PtcpEvent;
use crate::pipe::{Ending, News, Pipe, Shrunk};
use crate::striper::NOBODY;
use prismux_endpoint::Deadline;
use prismux_units::{Duration, Instant};

/// Longest time between two probes of a closed window.
const LONGEST_PERSIST: Duration = Duration::from_secs(60);

/// Nothing is on its way on any pipe, and something is still to be done.
#[derive(Debug, Default)]
pub(super) struct Stall {
    at: Option<Instant>,
    tries: u8,
}

impl Stall {
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

impl Connection {
    /// How long suspects are given: three halves of the longest round trip.
    pub(super) fn suspicion(&self) -> Duration {
        let longest = self.pipes.iter().filter_map(|pipe| pipe.srtt()).max().unwrap_or(Duration::ZERO);
        (longest * 3 / 2).max(self.config.suspect_floor)
    }

    pub(super) fn take_news(&mut self, now: Instant, index: usize, news: News) {
        let id = self.pipes[index].id;
        if news.established {
            self.pipe_established(id);
        }
        if let Some(shrunk) = news.shrunk {
            self.shrunk(index, shrunk);
        }
        let is_quiet = now.saturating_since(self.pipes[index].quiet_since()) >= self.config.least_silence;
        let is_probed = news.probes && is_quiet && self.config.reassignment == Reassignment::Probe;
        if is_probed && self.has_other_live(index) {
            self.pipes[index].fall_silent();
            self.untie(index, 0, self.config.redundant_striping);
        }
        if news.peer_closed && !self.peer_closed {
            self.peer_closed = true;
            self.events.push(PtcpEvent::PeerClosed);
        }
        if let Some(ending) = news.closed {
            self.closed(index, ending);
        }
        self.close_when_complete(now);
    }

    /// `shrunk`: what lies beyond the new window is free for other pipes, and after a timeout the one segment left in it too.
    fn shrunk(&mut self, index: usize, shrunk: Shrunk) {
        let wanted = match self.config.reassignment {
            Reassignment::Off => false,
            Reassignment::Timeout => shrunk.timeout,
            Reassignment::Window | Reassignment::Probe => true,
        };
        if self.has_other_live(index) {
            let window = if wanted { shrunk.window } else { u64::MAX };
            self.untie(index, window, shrunk.timeout && self.config.redundant_striping);
        }
    }

    /// Untied bytes need another pipe to go to, and one that has not fallen silent itself.
    fn has_other_live(&self, index: usize) -> bool {
        !self.is_single()
            && self.pipes.iter().enumerate().any(|(other, pipe)| other != index && pipe.is_live())
    }

    /// Sets free what lies beyond `window` of the pipe, and with `copy_first` the first segment too.
    fn untie(&mut self, index: usize, window: u64, copy_first: bool) {
        let (striper, pipe) = (&mut self.striper, &mut self.pipes[index]);
        let (id, mut untied) = (pipe.id, false);
        pipe.bindings_mut().shrink(window, copy_first, |range| {
            untied |= striper.untie(range, id);
        });
        if copy_first {
            striper.counters.redundant_segments += 1;
        }
        if untied {
            self.resume_all();
        }
    }

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

    /// A pipe has gone: what is bound to it is free.
    pub(super) fn release(&mut self, index: usize) {
        let (striper, pipe) = (&mut self.striper, &mut self.pipes[index]);
        let id = pipe.id;
        (pipe.established, pipe.ended) = (false, true);
        pipe.bindings_mut().release(|range| {
            striper.untie(range, NOBODY);
        });
        striper.forget_origin(id);
        self.events.push(PtcpEvent::PipeClosed { pipe: id });
        self.resume_all();
        if let State::Established(_) = self.state {
            self.state = State::Established(self.established_pipes());
        }
    }

    /// `closed`: the last pipe takes the connection with it.
    fn closed(&mut self, index: usize, ending: Ending) {
        self.release(index);
        let first_refused = self.state == State::Opening;
        if first_refused || self.pipes.iter().all(|pipe| pipe.ended) {
            match ending {
                Ending::Reset => self.events.push(PtcpEvent::Reset),
                Ending::TimedOut => self.events.push(PtcpEvent::TimedOut),
                Ending::Closed => {}
            }
            self.enter_closed();
        }
    }

    pub(super) fn deadline(&self) -> Option<Deadline> {
        let mut next = None;
        for pipe in self.pipes.iter().filter(|pipe| !pipe.ended) {
            next = Deadline::earliest(next, pipe.deadline());
        }
        if self.state == State::Closed {
            return next;
        }
        let suspects = self.striper.suspects_due().map(|at| Deadline { at, why: "suspect" });
        let stall = self.stall.at.map(|at| Deadline { at, why: "stall" });
        Deadline::earliest(Deadline::earliest(next, suspects), stall)
    }

    pub(super) fn fire(&mut self, now: Instant) {
        for index in 0..self.pipes.len() {
            let pipe = &mut self.pipes[index];
            if !pipe.ended && pipe.deadline().is_some_and(|deadline| deadline.at <= now) {
                let news = pipe.fire(now);
                self.take_news(now, index, news);
            }
        }
        if self.striper.suspects_due().is_some_and(|due| due <= now) && self.striper.reclaim(now) {
            self.resume_all();
        }
        if self.stall.at.is_some_and(|at| at <= now) {
            self.end_stall();
        }
    }

    /// Notes that every pipe has fallen silent although bytes are missing or wait for a window.
    pub(super) fn watch_stall(&mut self, now: Instant) {
        let waits = matches!(self.state, State::Established(1..))
            && (self.striper.outstanding() > 0 || self.striper.has_work());
        if !waits || self.pipes.iter().any(|pipe| !pipe.ended && !pipe.bindings().is_empty()) {
            self.stall.forget();
            return;
        }
        if self.stall.at.is_none() {
            let wait = if self.striper.outstanding() > 0 { self.suspicion() } else { self.persist() };
            self.stall.at = Some(now + wait * (1 << self.stall.tries.min(10)));
        }
    }

    /// Time before a closed window is asked about (RFC 9293 section 3.8.6.1).
    fn persist(&self) -> Duration {
        let best = self.first_pipe(|pipe| pipe.established);
        best.map_or(LONGEST_PERSIST, |index| self.pipes[index].engine().rto()).min(LONGEST_PERSIST)
    }

    fn end_stall(&mut self) {
        self.stall.at = None;
        self.stall.tries = self.stall.tries.saturating_add(1);
        if self.striper.outstanding() > 0 {
            // The keep-alive check: nobody is going to deliver what is missing.
            if self.config.keep_alive_check {
                self.striper.reclaim_all();
                self.resume_all();
            }
        } else if self.striper.has_room() {
            self.striper.override_silly = true;
            self.resume_all();
        } else if let Some(best) = self.first_pipe(|pipe| pipe.established) {
            self.pipes[best].request_probe();
        }
    }
}
