//! Paths that come and go by the caller's wish or with their interfaces, and how much of the object is asked for.
use super::event::{DownloadEvent, PathLoss};
use super::path::{Path, State};
use super::{Download, PathSpec};
use crate::machine::LinkUser;
use prismux_units::Instant;
use std::ops::Range;

impl Download {
    /// Uses one more path from now on; one that was closed is opened again. Answers its number.
    pub fn use_path(&mut self, now: Instant, spec: PathSpec) -> usize {
        let known = self.paths.iter().position(|path| path.spec == spec);
        let index = known.unwrap_or_else(|| {
            self.paths.push(Path::new(spec, now));
            self.paths.len() - 1
        });
        let path = &mut self.paths[index];
        if matches!(path.state, State::Closed) {
            path.is_leaving = false;
            path.state = State::Waiting { until: now };
        }
        // Whoever brings it is waited for as long as when a download begins.
        self.progress_at = now;
        index
    }

    /// From now on nothing is asked for that ends beyond `position`; see
    /// [`DownloadConfig::ask_up_to`](super::DownloadConfig::ask_up_to).
    pub fn ask_up_to(&mut self, now: Instant, position: u64) {
        self.config.ask_up_to = Some(position);
        if let Some(carrier) = &mut self.carrier {
            carrier.ask_up_to(now, position);
        }
        self.drain_carrier(now);
        self.progress_at = now;
    }

    /// Bytes that the caller has, or will have, from elsewhere: they are not asked for by R²CP (any more). Those that
    /// were come, and are told of as far as they are new.
    pub fn already_here(&mut self, now: Instant, range: Range<u64>) {
        match (&mut self.carrier, &mut self.config.resume) {
            (Some(carrier), _) => carrier.already_here(now, &range),
            (None, Some((_, ranges))) => ranges.push(range),
            // Nothing is known of the object: what of it could be here?
            (None, None) => {}
        }
        self.drain_carrier(now);
    }

    /// Asks for nothing more over path `index`; what is on its way still arrives. It stays closed until it is used
    /// again.
    pub fn close_path(&mut self, now: Instant, index: usize) {
        let path = &mut self.paths[index];
        if path.is_refused() || path.is_leaving {
            return;
        }
        path.is_leaving = true;
        match &mut self.carrier {
            Some(carrier) if path.is_open() => carrier.close_path(now, index),
            _ => self.closed(now, index),
        }
        self.drain_carrier(now);
    }

    /// Nothing is left of a path that was closed.
    pub(super) fn closed(&mut self, now: Instant, index: usize) {
        self.leave(now, index);
        self.paths[index].state = State::Closed;
        self.events.push_back(DownloadEvent::Closed(index));
    }
}

impl LinkUser for Download {
    fn link_is_alive(&self, link: usize) -> bool {
        self.paths.iter().any(|path| path.spec.link == link && path.is_open())
    }

    fn link_down(&mut self, now: Instant, link: usize) {
        for index in 0..self.paths.len() {
            let path = &self.paths[index];
            if path.spec.link == link && !path.is_refused() && !matches!(path.state, State::Closed) {
                self.lose(now, index, PathLoss::InterfaceGone);
                if matches!(self.paths[index].state, State::Waiting { .. }) {
                    self.paths[index].state = State::Down;
                }
            }
        }
        self.drain_carrier(now);
    }

    fn link_up(&mut self, now: Instant, link: usize) {
        for path in self.paths.iter_mut().filter(|path| path.spec.link == link) {
            path.retry_now(now);
        }
    }
}
