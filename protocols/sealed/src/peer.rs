//! One other end: who it is, its keys, where it is, and what was last said.
use crate::cookie::{Addressee, Given};
use crate::events::Refusal;
use crate::key::PublicKey;
use crate::limits::Limits;
use crate::message::MAC_BYTES;
use crate::session::Session;
use crate::session_keys::SessionKeys;
use alloc::vec::Vec;
use core::net::SocketAddr;
use prismux_units::Instant;
use snow::HandshakeState;

/// Keys that packets may still come under: more than two ends can begin by crossing handshakes and lost answers.
const MAX_SESSIONS: usize = 5;

/// One of the peers, numbered from 0 as they were added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerId(pub u16);

/// A handshake that we began and that has not been answered.
pub(crate) struct Pending {
    pub noise: HandshakeState,
    pub local: u32,
    /// Where it went: its answer shows that the peer is there.
    pub to: SocketAddr,
    pub began: Instant,
    pub retry_at: Instant,
    pub tries: u32,
    /// The code that a cookie reply names.
    pub mac1: [u8; MAC_BYTES],
}

/// What is known of a peer.
pub(crate) struct Peer {
    pub public: PublicKey,
    /// It is treated as a stranger.
    pub is_barred: bool,
    pub addressee: Addressee,
    pub cookie: Option<Given>,
    /// The time in its last initiation: an earlier one has been played back.
    pub latest_timestamp: [u8; 12],
    /// When its last initiation was answered.
    pub answered_at: Option<Instant>,
    /// When our last initiation went out.
    pub initiated_at: Option<Instant>,
    pub pending: Option<Pending>,
    /// Where it has shown to be.
    pub address: Option<SocketAddr>,
    /// Where its newest packet came from, if not from there.
    pub candidate: Option<SocketAddr>,
    /// When data was sent first since anything was heard.
    pub unanswered_since: Option<Instant>,
    /// When data was heard first since anything was sent.
    pub unsaid_since: Option<Instant>,
    sessions: Vec<Session>,
    /// Which of the sessions packets are sealed under.
    current: Option<u32>,
    /// When the session was made under which the newest packet came.
    newest: Instant,
}

/// What a packet that has been opened shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heard {
    /// It is the newest of all so far.
    pub is_newest: bool,
    /// It is the first under new keys; where our half of the handshake went.
    pub confirms: Option<SocketAddr>,
}

impl Peer {
    pub fn new(public: PublicKey, address: Option<SocketAddr>) -> Self {
        Self {
            public,
            is_barred: false,
            addressee: Addressee::new(&public),
            cookie: None,
            latest_timestamp: [0; 12],
            answered_at: None,
            initiated_at: None,
            pending: None,
            address,
            candidate: None,
            unanswered_since: None,
            unsaid_since: None,
            sessions: Vec::new(),
            current: None,
            newest: Instant::ZERO,
        }
    }

    /// Keeps nothing of it but the time in its last initiation, so that nothing said before counts later.
    pub fn forget(&mut self) {
        let latest_timestamp = self.latest_timestamp;
        *self = Self { latest_timestamp, ..Self::new(self.public, None) };
    }

    /// All names of sessions that the other end may use.
    pub fn indices(&self) -> impl Iterator<Item = u32> {
        let pending = self.pending.as_ref().map(|pending| pending.local);
        self.sessions.iter().map(Session::local).chain(pending)
    }

    /// The session for what is sent now.
    pub fn current(&mut self, now: Instant, limits: &Limits) -> Option<&mut Session> {
        let current = self.current?;
        self.sessions.iter_mut().find(|s| s.local() == current).filter(|s| s.may_seal(now, limits))
    }

    /// New keys, from a handshake that we began: they are used at once.
    pub fn add_begun(&mut self, session: Session) {
        self.current = Some(session.local());
        self.add(session);
    }

    /// New keys, from a handshake that the other end began: used once it has used them, which shows that it has them,
    /// unless there are newer ones by then.
    pub fn add_answered(&mut self, session: Session) {
        self.add(session);
    }

    fn add(&mut self, session: Session) {
        if self.sessions.len() >= MAX_SESSIONS {
            let oldest = self.sessions.iter().position(|s| Some(s.local()) != self.current);
            self.sessions.remove(oldest.unwrap_or(0));
        }
        self.sessions.push(session);
    }

    /// The keys for what came for the session `local` under `counter`.
    ///
    /// # Errors
    /// [`Refusal`]: unknown or too old keys, or played back.
    pub fn admit(
        &self,
        now: Instant,
        limits: &Limits,
        (local, counter): (u32, u64),
    ) -> Result<&SessionKeys, Refusal> {
        let session = self.sessions.iter().find(|s| s.local() == local).ok_or(Refusal::Stranger)?;
        session.admit(now, limits, counter)
    }

    /// Notes that what came for the session `local` under `counter` has been opened.
    ///
    /// # Errors
    /// [`Refusal`]: unknown or too old keys, or played back.
    pub fn accept(
        &mut self,
        now: Instant,
        limits: &Limits,
        (local, counter): (u32, u64),
        has_payload: bool,
    ) -> Result<Heard, Refusal> {
        let session = self.sessions.iter_mut().find(|s| s.local() == local).ok_or(Refusal::Stranger)?;
        let is_newest = session.accept(now, limits, counter)?;
        let (confirms, created) = (session.confirm(), session.created());
        if confirms.is_some() && !self.is_older_than_current(created) {
            self.current = Some(local);
        }
        let is_newest = is_newest && created >= self.newest;
        if is_newest {
            self.newest = created;
        }
        self.unanswered_since = None;
        if has_payload {
            self.unsaid_since.get_or_insert(now);
        }
        Ok(Heard { is_newest, confirms })
    }

    /// When both ends begin at once, each answers the other's handshake before its own is answered. If both then took
    /// up the other's keys, each would wait for the other to renew them, and both would run out at once.
    fn is_older_than_current(&self, created: Instant) -> bool {
        let current = self.sessions.iter().find(|session| Some(session.local()) == self.current);
        current.is_some_and(|current| created < current.created())
    }

    /// Whether what has just been heard calls for new keys.
    pub fn is_due_on_hearing(&mut self, now: Instant, limits: &Limits) -> bool {
        self.current(now, limits).is_some_and(|session| {
            session.is_ours()
                && (session.age(now) >= limits.rekey_on_hearing_after() || session.is_used_up(limits))
        })
    }

    /// Forgets keys that are too old to be used; true if there were any.
    pub fn forget_old_keys(&mut self, now: Instant, limits: &Limits) -> bool {
        let before = self.sessions.len();
        self.sessions.retain(|session| session.age(now) < limits.reject_after);
        self.sessions.len() < before
    }

    /// When something is due.
    pub fn deadline(&self, limits: &Limits) -> Option<Instant> {
        let retry = self.pending.as_ref().map(|pending| pending.retry_at);
        let silent = self.unanswered_since.map(|since| since + limits.no_answer_after());
        let keepalive = self.unsaid_since.map(|since| since + limits.keepalive_after);
        let old = self.sessions.iter().map(|session| session.created() + limits.reject_after).min();
        [retry, silent, keepalive, old].into_iter().flatten().min()
    }
}
