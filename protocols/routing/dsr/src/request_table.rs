//! The route request table (RFC 4728 section 4.3): the host's own searches, and which requests it has seen.
use crate::config::DsrConfig;
use crate::constants::{
    MAX_REQUEST_PERIOD, MAX_REQUEST_REXMT, NONPROP_REQUEST_TIMEOUT, REQUEST_TABLE_IDS, REQUEST_TABLE_SIZE,
};
use alloc::collections::{BTreeMap, VecDeque};
use core::net::Ipv4Addr;
use prismux_units::{Duration, Instant};

/// A search of the host's own for one target.
#[derive(Debug, Clone)]
struct Search {
    /// Propagating requests, or rounds, so far.
    rounds: u32,
    period: Duration,
    /// When the last round began.
    began: Instant,
    /// When the next round may begin.
    next_round: Instant,
    /// The neighbours alone were asked, and everybody is next from here on.
    widens: Option<Instant>,
}

/// What to do for a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// A request may not leave yet.
    Wait,
    /// A request with this hop limit leaves; `is_new_round` unless it widens the last one.
    Request { hop_limit: u8, is_new_round: bool },
    /// The search is over.
    GiveUp,
}

/// Requests seen of one initiator.
#[derive(Debug, Clone, Default)]
struct Seen {
    requests: VecDeque<(u16, Ipv4Addr)>,
    last_used: u64,
}

/// The route request table.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestTable {
    searches: BTreeMap<Ipv4Addr, Search>,
    seen: BTreeMap<Ipv4Addr, Seen>,
    uses: u64,
    next_identification: u16,
}

impl RequestTable {
    /// A number for a new request of the host's own.
    pub(crate) fn identification(&mut self) -> u16 {
        self.next_identification = self.next_identification.wrapping_add(1);
        self.next_identification
    }

    /// Whether the host searches for `target`, or has searched lately.
    pub(crate) fn has_search(&self, target: Ipv4Addr) -> bool {
        self.searches.contains_key(&target)
    }

    /// When the next request for `target` may leave.
    pub(crate) fn next(&self, target: Ipv4Addr) -> Option<Instant> {
        self.searches.get(&target).map(Search::next)
    }

    /// Asks for a request for `target` at `now`.
    pub(crate) fn ask(&mut self, now: Instant, target: Ipv4Addr, config: &DsrConfig) -> Ask {
        if !self.searches.contains_key(&target) {
            self.forget_oldest_search();
            let period = config.first_request_period;
            let first = Search { rounds: 0, period, began: now, next_round: now, widens: None };
            self.searches.insert(target, first);
        }
        let Some(search) = self.searches.get_mut(&target) else { return Ask::Wait };
        if now < search.next_round {
            if search.widens.is_none_or(|at| at > now) {
                return Ask::Wait;
            }
            search.widens = None;
            if !config.nonpropagating_each_time {
                search.wait(now, config);
            }
            return Ask::Request { hop_limit: config.discovery_hop_limit, is_new_round: false };
        }
        if search.rounds >= MAX_REQUEST_REXMT {
            self.searches.remove(&target);
            return Ask::GiveUp;
        }
        search.rounds += 1;
        search.began = now;
        let is_first = search.rounds == 1;
        if config.nonpropagating_first && (is_first || config.nonpropagating_each_time) {
            search.widens = Some(now + NONPROP_REQUEST_TIMEOUT);
            match config.nonpropagating_each_time {
                true => search.wait(now, config),
                false => search.next_round = Instant::MAX,
            }
            return Ask::Request { hop_limit: 1, is_new_round: true };
        }
        search.wait(now, config);
        Ask::Request { hop_limit: config.discovery_hop_limit, is_new_round: true }
    }

    fn forget_oldest_search(&mut self) {
        if self.searches.len() >= REQUEST_TABLE_SIZE
            && let Some((&target, _)) = self.searches.iter().min_by_key(|(_, search)| search.began)
        {
            self.searches.remove(&target);
        }
    }

    /// Leaves out the round for `target` if one is due at `now` that is not the first; says whether it was.
    pub(crate) fn skip_round(&mut self, now: Instant, target: Ipv4Addr, config: &DsrConfig) -> bool {
        let due = self.searches.get_mut(&target).filter(|search| search.next_round <= now);
        due.map(|search| search.wait(now, config)).is_some()
    }

    /// A route to `target` was found.
    pub(crate) fn answered(&mut self, target: Ipv4Addr) -> bool {
        self.searches.remove(&target).is_some()
    }

    /// Remembers a request; says whether it was new.
    pub(crate) fn note(
        &mut self,
        initiator: Ipv4Addr,
        identification: u16,
        target: Ipv4Addr,
        config: &DsrConfig,
    ) -> bool {
        self.uses += 1;
        if self.seen.len() >= config.request_table_hosts
            && !self.seen.contains_key(&initiator)
            && let Some((&oldest, _)) = self.seen.iter().min_by_key(|(_, seen)| seen.last_used)
        {
            self.seen.remove(&oldest);
        }
        let seen = self.seen.entry(initiator).or_default();
        seen.last_used = self.uses;
        let is_known = match (config.newest_requests_only, seen.requests.back()) {
            (true, Some(&(newest, _))) => !is_newer(identification, newest),
            _ => seen.requests.contains(&(identification, target)),
        };
        if is_known {
            return false;
        }
        if seen.requests.len() >= REQUEST_TABLE_IDS {
            seen.requests.pop_front();
        }
        seen.requests.push_back((identification, target));
        true
    }

    /// Hosts and requests that are remembered, for bounds.
    pub(crate) fn entries(&self) -> usize {
        self.searches.len() + self.seen.values().map(|seen| seen.requests.len()).sum::<usize>()
    }
}

impl Search {
    /// The next round begins a period later; the period behind it is longer, up to the longest.
    fn wait(&mut self, now: Instant, config: &DsrConfig) {
        self.next_round = now + self.period;
        let period = self.period * u64::from(config.request_backoff);
        self.period = period.min(MAX_REQUEST_PERIOD);
    }

    /// When the next request may leave.
    fn next(&self) -> Instant {
        self.widens.map_or(self.next_round, |at| at.min(self.next_round))
    }
}

/// Whether `identification` comes after `newest`, in numbers that wrap (RFC 1982).
const fn is_newer(identification: u16, newest: u16) -> bool {
    let ahead = identification.wrapping_sub(newest);
    ahead != 0 && ahead < 1 << 15
}
