//! Statements of what members' links have carried for this proxy, which both sign.
use super::members::Member;
use crate::accounts;
use crate::statements::{self, Report, Statements};
use crate::tunnel::{Peer, Transport};
use prismux_sealed::KeyPair;
use prismux_sharing::settlement::{self, Borrower, Refusal};
use prismux_sharing::{Carried, Day, Signer};
use prismux_units::{Duration, Instant};
use std::path::Path;

/// How soon it is asked again whether what was signed is in the file.
const KEEP_INTERVAL: Duration = Duration::from_millis(5);

/// What is agreed on with members that have keys.
pub(super) struct Borrowing {
    signer: Option<Signer>,
    statements: Statements,
    /// By the member's number; none for uplinks of homes.
    by_number: Vec<Option<Borrowed>>,
    /// What leaves once it is kept.
    outbox: Vec<(Peer, settlement::Message)>,
    next_look: Instant,
}

struct Borrowed {
    key: [u8; 32],
    borrower: Borrower,
    /// What the link's counter showed when it was last read.
    counted: Carried,
}

impl Borrowing {
    /// Goes on with what is kept. Without `keys` nothing is signed.
    pub fn open<'a>(
        keys: Option<&KeyPair>,
        peers: impl Iterator<Item = (bool, &'a [u8; 32])>,
        accounts_file: &Path,
    ) -> Self {
        let statements = Statements::open(accounts_file, accounts::time_now().day);
        let signer = keys.map(statements::signer);
        let borrowed = |(is_home, key): (bool, &[u8; 32])| {
            let signer = signer.clone().filter(|_| !is_home)?;
            let borrower = Borrower::new(signer, *key, statements.records());
            Some(Borrowed { key: *key, borrower, counted: Carried::default() })
        };
        let by_number = peers.map(borrowed).collect();
        Self { by_number, signer, statements, outbox: Vec::new(), next_look: Instant::ZERO }
    }

    /// When [`Borrowing::take_kept`] has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        (!self.outbox.is_empty()).then_some(self.next_look)
    }

    /// Counts what members have carried, by their counters.
    pub fn book<'a>(&mut self, members: impl Iterator<Item = &'a Member>) {
        for member in members.filter(|member| member.peer.transport == Transport::Sealed) {
            if let Some(Some(borrowed)) = self.by_number.get_mut(usize::from(member.peer.number)) {
                borrowed.borrower.carried(member.carried.since(borrowed.counted));
                borrowed.counted = member.carried;
                self.statements.note(borrowed.borrower.take_records());
            }
        }
    }

    /// Has what is new written.
    pub fn save_in_time(&mut self, now: Instant) {
        self.statements.save_in_time(now);
    }

    /// What the status page says of a member's link.
    pub fn report(&self, peer: Peer) -> Option<Report> {
        if peer.transport != Transport::Sealed {
            return None;
        }
        let borrowed = self.by_number.get(usize::from(peer.number))?.as_ref()?;
        let own = self.signer.as_ref()?.party();
        let of_both = self.statements.records().statements().map(|signed| signed.statement);
        let of_both = of_both.filter(|of| of.lender.key == borrowed.key && of.borrower == own);
        let signed_bytes = of_both.map(|of| of.carried.total_bytes()).fold(0, u64::saturating_add);
        let unsigned_bytes = borrowed.borrower.unsigned().total_bytes();
        Some(Report::new(borrowed.borrower.counters(), signed_bytes, unsigned_bytes))
    }

    /// Where statements are kept.
    pub fn file(&self) -> Option<&Path> {
        self.statements.file()
    }

    /// What leaves now: what was signed, once it is kept.
    pub fn take_kept(&mut self, now: Instant) -> Vec<(Peer, settlement::Message)> {
        if self.outbox.is_empty() || self.next_look > now {
            return Vec::new();
        }
        if self.statements.are_kept() {
            return std::mem::take(&mut self.outbox);
        }
        self.statements.save();
        self.next_look = now + KEEP_INTERVAL;
        Vec::new()
    }

    /// Whether the log may tell of a refusal.
    pub fn may_tell(&mut self, now: Instant) -> bool {
        self.statements.may_tell(now)
    }

    /// What a lender says.
    ///
    /// # Errors
    /// [`Refusal`]: nothing comes of it.
    pub fn handle(
        &mut self,
        now: Instant,
        today: Day,
        peer: Peer,
        message: &settlement::Message,
    ) -> Result<(), Refusal> {
        let borrowed = self.by_number.get_mut(usize::from(peer.number)).and_then(Option::as_mut);
        let Borrowed { borrower, .. } = borrowed.ok_or(Refusal::NotAsked)?;
        let handled = match message {
            settlement::Message::Claim(claim) => borrower.claim(now, today, claim).map(Some),
            settlement::Message::Confirmation(confirmation) => borrower.confirmed(confirmation).map(|_| None),
            settlement::Message::Proposal(_) => Err(Refusal::NotAsked),
        };
        self.statements.note(borrower.take_records());
        if let Some(proposal) = handled? {
            self.outbox.retain(|(other, _)| other.number != peer.number);
            self.outbox.push((peer, settlement::Message::Proposal(proposal)));
            self.next_look = now + KEEP_INTERVAL;
        }
        self.statements.save();
        Ok(())
    }
}
