//! What pipes tell, and where the bytes of a pipe in trouble go: windows that shrink, pipes that end.
use super::{Connection, State};
use crate::config::Reassignment;
use crate::event::PtcpEvent;
use crate::pipe::{Ending, PipeUpdate, Shrunk};
use crate::send_buffer::NO_PIPE;
use prismux_tcp::TcpEvent;
use prismux_units::Instant;

impl Connection {
    /// `established`, `closed`, `shrunk`: what pipe `index` has just told.
    pub(super) fn take_update(&mut self, now: Instant, index: usize, update: PipeUpdate) {
        let id = self.pipes[index].id;
        if update.established {
            self.pipe_established(id);
        }
        if let Some(shrunk) = update.shrunk {
            self.shrunk(index, shrunk);
        }
        let is_quiet = now.saturating_since(self.pipes[index].quiet_since()) >= self.config.min_silence;
        let is_probed = update.probes && is_quiet && self.config.reassignment == Reassignment::Probe;
        if is_probed && self.has_other_live(index) {
            self.pipes[index].fall_silent();
            self.unbind(index, 0, self.config.redundant_striping);
        }
        if update.peer_closed && !self.peer_closed {
            self.peer_closed = true;
            self.events.push(TcpEvent::PeerClosed);
        }
        if let Some(ending) = update.closed {
            self.closed(index, ending);
        }
        self.close_when_complete(now);
    }

    /// `shrunk`: what lies beyond the new window is free for other pipes, and after a timeout the one segment left in
    /// it too.
    fn shrunk(&mut self, index: usize, shrunk: Shrunk) {
        let wanted = match self.config.reassignment {
            Reassignment::Off => false,
            Reassignment::Timeout => shrunk.timeout,
            Reassignment::Window | Reassignment::Probe => true,
        };
        if self.has_other_live(index) {
            let window = if wanted { shrunk.window } else { u64::MAX };
            self.unbind(index, window, shrunk.timeout && self.config.redundant_striping);
        }
    }

    /// Unbound bytes need another pipe to go to, and one that has not fallen silent itself.
    fn has_other_live(&self, index: usize) -> bool {
        !self.is_single()
            && self.pipes.iter().enumerate().any(|(other, pipe)| other != index && pipe.is_live())
    }

    /// Sets free what lies beyond `window` of the pipe, and with `copy_first` the first segment too.
    fn unbind(&mut self, index: usize, window: u64, copy_first: bool) {
        let (send_buffer, pipe) = (&mut self.send_buffer, &mut self.pipes[index]);
        let (id, mut unbound) = (pipe.id, false);
        let copied = pipe.bindings_mut().shrink(window, copy_first, |range| {
            unbound |= send_buffer.unbind(range, id);
        });
        send_buffer.counters.redundant_segments += u64::from(copied);
        if unbound {
            self.resume_all();
        }
    }

    /// A pipe has gone: what is bound to it is free.
    pub(super) fn release(&mut self, index: usize) {
        let (send_buffer, pipe) = (&mut self.send_buffer, &mut self.pipes[index]);
        let id = pipe.id;
        (pipe.established, pipe.ended) = (false, true);
        pipe.bindings_mut().release(|range| {
            send_buffer.unbind(range, NO_PIPE);
        });
        send_buffer.forget_origin(id);
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
                Ending::Reset => self.events.push(TcpEvent::Reset),
                Ending::TimedOut => self.events.push(TcpEvent::TimedOut),
                Ending::Closed => {}
            }
            self.enter_closed();
        }
    }
}
