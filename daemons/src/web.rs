//! A daemon over HTTP: metrics for Prometheus, and the page on which people see what their links do.
//!
//! The daemon's one thread takes a sample each second and accepts connections; everything else (reading requests,
//! writing answers) is done by threads of their own, at most [`server::MAX_READERS`] at a time, which share what was
//! published last. A reader costs the packets a report at most five times a second, whoever asks, however often.
//!
//! * [`server`]: connections, how many and for how long. [`request`]: what is asked. [`site`]: who is answered what.
//! * [`password`]: who may ask where the page is open to others.
//! * [`history`]: the figures of the last two days, in bounded memory.
//! * [`decisions`]: what happened, in words. [`live`]: what the page asks for each second.
//! * [`assets`]: the page itself.

mod assets;
mod decisions;
mod history;
mod live;
mod password;
mod request;
mod server;
mod site;

use crate::config::WebConfig;
use crate::figures::Sampler;
use decisions::Decisions;
use history::History;
use password::Guard;
use prismux_units::{Duration, Instant};
use serde::Serialize;
use serde_json::Value;
use server::Server;
use site::Site;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};

/// Addresses at which a daemon answers: metrics' and the page's.
pub const MAX_ADDRESSES: u64 = 2;

/// Time between samples of the page.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);

/// A report is not made anew for those who ask within this time.
const FRESH: Duration = Duration::from_millis(200);

/// What readers are told of.
#[derive(Debug, Clone, Default)]
struct Published {
    /// When the status page was made; `None` before the first.
    at: Option<Instant>,
    status: Arc<Value>,
    history: History,
    decisions: Decisions,
}

/// What the daemon's thread writes and those of readers read.
#[derive(Debug, Clone, Default)]
struct Board(Arc<Mutex<Published>>);

impl Board {
    /// Looks at what was published, or changes it. Held for copies of pointers only, never while somebody is answered.
    fn with<T>(&self, act: impl FnOnce(&mut Published) -> T) -> T {
        // A thread that panicked meanwhile has left whole values: each is replaced at once.
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The daemon's side: where it listens, and what it publishes.
#[derive(Debug, Default)]
pub struct Web {
    servers: Vec<Server>,
    board: Board,
    /// With a page: figures, and when the next are taken.
    sampler: Option<(Sampler, Instant)>,
}

impl Web {
    /// Listens wherever the file says.
    ///
    /// # Errors
    /// What is wrong with the password's file, or with an address, as when its port is in use.
    pub fn open(config: &WebConfig) -> Result<Self, String> {
        let Some(first) = config.page.or(config.metrics) else { return Ok(Self::default()) };
        let board = Board::default();
        let guard = match config.read_password()? {
            Some(password) => {
                Some(Guard::new(&password).map_err(|error| format!("the page's password: {error}"))?)
            }
            None => None,
        };
        let mut servers = Vec::new();
        // The one that has the password; metrics elsewhere are for this host alone.
        let site = |address, guard| Site {
            address,
            has_page: config.page == Some(address),
            has_metrics: config.metrics == Some(address),
            guard,
            board: board.clone(),
        };
        servers.push(Server::bind(first, |address| site(address, guard))?);
        if let Some(other) = config.metrics.filter(|&metrics| metrics != first) {
            servers.push(Server::bind(other, |address| site(address, None))?);
        }
        let sampler = config.page.map(|_| (Sampler::default(), Instant::ZERO));
        Ok(Self { servers, board, sampler })
    }

    /// What becomes readable when somebody connects, at most [`MAX_ADDRESSES`].
    pub fn listeners(&self) -> impl Iterator<Item = &TcpListener> {
        self.servers.iter().map(Server::listener)
    }

    /// When [`Web::expire`] is to be called next.
    pub fn deadline(&self) -> Option<Instant> {
        self.sampler.as_ref().map(|(_, next)| *next)
    }

    /// Takes a sample if one is due.
    pub fn expire<S: Serialize>(&mut self, now: Instant, report: impl FnOnce() -> S) {
        let Some((sampler, next)) = self.sampler.as_mut().filter(|(_, next)| *next <= now) else { return };
        *next = (*next + SAMPLE_INTERVAL).max(now + FRESH);
        let status = Arc::new(value_of(&report()));
        let sample = sampler.sample(now, &status);
        self.board.with(|published| {
            published.history.add(sample);
            status.get("events").iter().for_each(|events| published.decisions.read(events));
            (published.at, published.status) = (Some(now), status);
        });
    }

    /// Has everybody answered who has connected at the address of this number.
    pub fn answer<S: Serialize>(&mut self, address: usize, now: Instant, report: impl FnOnce() -> S) {
        let is_fresh = |at: Instant| now.saturating_since(at) < FRESH;
        if !self.board.with(|published| published.at.is_some_and(is_fresh)) {
            let status = Arc::new(value_of(&report()));
            self.board.with(|published| (published.at, published.status) = (Some(now), status));
        }
        if let Some(server) = self.servers.get(address) {
            server.answer();
        }
    }
}

/// A page of plain names and numbers always serialises.
fn value_of(report: &impl Serialize) -> Value {
    serde_json::to_value(report).unwrap_or_default()
}

/// Where somebody listens, for messages.
fn cannot_listen(address: SocketAddr, error: &std::io::Error) -> String {
    format!("cannot listen at {address} for the page or metrics: {error}")
}

#[cfg(test)]
mod tests;
