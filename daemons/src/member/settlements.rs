//! Statements of what this member's link has carried for the proxy, which both sign.
use super::Member;
use super::registration::State;
use crate::accounts;
use crate::config::MemberConfig;
use crate::daemon::DaemonError;
use crate::statements::{self, Repayments, Statements};
use crate::tunnel::control::Message;
use prismux_sharing::settlement::{self, Lender};
use prismux_sharing::{Balance, Carried, Credit, Day};
use prismux_units::{ByteCount, Instant};
use serde::Serialize;
use std::path::Path;

/// What is agreed on with the proxy.
pub(super) struct Lending {
    lender: Lender,
    statements: Statements,
    /// What the link's counter showed when it was last read.
    counted: Carried,
    credit: Credit,
    repayments: Repayments,
    /// What came back, as it was known last.
    repaid_bytes: u64,
    /// What the proxy called its session when it was last asked.
    session: u64,
}

impl Lending {
    /// Goes on with what is kept; `None` where the tunnel is not sealed: without keys there is nothing to sign with.
    ///
    /// # Errors
    /// A key is missing or wrong.
    pub fn open(config: &MemberConfig, accounts_file: &Path) -> Result<Option<Self>, DaemonError> {
        let bad = |(key, message)| DaemonError::Config(format!("{key}: {message}"));
        let Some((keys, proxy)) = config.read_keys().map_err(bad)? else { return Ok(None) };
        let statements = Statements::open(accounts_file, accounts::time_now().day);
        let signer = statements::signer(&keys);
        let lender = Lender::new(signer, proxy.0, config.credit.sign_every, statements.records());
        let under = &config.credit.lends_under;
        let lenders = if under.is_empty() { vec![proxy.0] } else { under.iter().map(|key| key.0).collect() };
        Ok(Some(Self {
            lender,
            statements,
            counted: Carried::default(),
            credit: config.credit.terms(),
            repayments: Repayments::beside(accounts_file, lenders),
            repaid_bytes: 0,
            session: 0,
        }))
    }

    /// Counts what the link has carried, by its counter.
    fn book(&mut self, day: Day, carried: Carried) {
        self.lender.carried(day, carried.since(self.counted));
        self.counted = carried;
        self.keep();
    }

    fn keep(&mut self) {
        self.statements.note(self.lender.take_records());
    }

    fn balance(&self) -> Balance {
        Balance { owed_bytes: self.lender.owed_bytes(), repaid_bytes: self.repaid_bytes }
    }

    /// What the status page says of the credit.
    pub fn credit_report(&self) -> CreditReport {
        let balance = self.balance();
        let Balance { owed_bytes, repaid_bytes } = balance;
        let limit_bytes = self.credit.limit_for(balance).map(ByteCount::as_u64);
        let signed_bytes = i128::from(self.lender.signed_bytes()) - i128::from(repaid_bytes);
        let credit_bytes = i64::try_from(signed_bytes).unwrap_or(i64::MAX);
        CreditReport { credit_bytes, owed_bytes, repaid_bytes, limit_bytes }
    }

    /// What the status page says.
    pub fn report(&self) -> statements::Report {
        let (signed, unsigned) = (self.lender.signed_bytes(), self.lender.unsigned_bytes());
        statements::Report::new(self.lender.counters(), signed, unsigned)
    }

    /// Where statements are kept.
    pub fn file(&self) -> Option<&Path> {
        self.statements.file()
    }
}

/// What the proxy owes, of both directions together.
#[derive(Debug, Serialize)]
pub(super) struct CreditReport {
    /// What was lent less what came back, by statements of both; negative for what this end owes.
    credit_bytes: i64,
    /// What was lent, signed or not.
    owed_bytes: u64,
    /// What came back, by statements of both.
    repaid_bytes: u64,
    /// How far what is owed may be above what came back.
    limit_bytes: Option<u64>,
}

impl Member {
    /// Counts what was carried, and claims it if it is time to.
    pub(super) fn settle(&mut self, now: Instant, day: Day) {
        let (carried, session) = (self.carried, self.registration.session());
        let is_registered = self.registration.state() == State::Registered;
        let Some(lending) = &mut self.lending else { return };
        lending.book(day, carried);
        lending.repaid_bytes = lending.repayments.bytes(now);
        self.share.set_credit(lending.credit.left(lending.balance()));
        if std::mem::replace(&mut lending.session, session) != session {
            lending.lender.begin();
        }
        let claim = is_registered.then(|| lending.lender.poll(now)).flatten();
        lending.statements.save_in_time(now);
        self.claim(claim);
    }

    /// Claims what has not been signed for: the link is about to be lent no more.
    pub(super) fn settle_at_once(&mut self, now: Instant) {
        let carried = self.carried;
        let Some(lending) = &mut self.lending else { return };
        lending.book(accounts::time_now().day, carried);
        let claim = lending.lender.claim_now(now);
        lending.statements.save();
        self.claim(claim);
    }

    /// Whether the proxy has not answered a claim yet.
    pub(super) fn awaits_signature(&self) -> bool {
        self.lending.as_ref().is_some_and(|lending| lending.lender.is_waiting())
    }

    fn claim(&mut self, claim: Option<settlement::Claim>) {
        if let Some(claim) = claim {
            self.send_control(&Message::Settlement(settlement::Message::Claim(claim)));
        }
    }

    /// What the proxy says of a claim.
    pub(super) fn settlement(&mut self, now: Instant, message: &settlement::Message) {
        // A tunnel without keys does not say who speaks: there is no lending then.
        let Some(lending) = &mut self.lending else { return };
        let settlement::Message::Proposal(proposal) = message else { return };
        let short = lending.lender.counters().short;
        let confirmation = lending.lender.proposed(proposal);
        lending.keep();
        lending.statements.save();
        let proxy = self.config.tunnel.proxy;
        match confirmation {
            Ok(confirmation) => {
                let is_short = lending.lender.counters().short > short;
                if is_short && lending.statements.may_tell(now) {
                    let (said, unsigned) = (proposal.carried.total_bytes(), lending.lender.unsigned_bytes());
                    let day = proposal.day;
                    tracing::warn!(%proxy, %day, said, unsigned, "the proxy has signed for less than was carried");
                }
                self.send_control(&Message::Settlement(settlement::Message::Confirmation(confirmation)));
                if let Some(departure) = &mut self.departure {
                    departure.settled();
                }
            }
            Err(refusal) if lending.statements.may_tell(now) => {
                tracing::warn!(%proxy, day = %proposal.day, %refusal, "a statement of the proxy's was not signed");
            }
            Err(_) => {}
        }
    }
}
