//! How often sources are told of shorter routes (RFC 4728 section 4.4).
use crate::constants::{GRAT_REPLY_HOLDOFF, MAX_GRATUITOUS_ROUTES, MAX_TABLE_HOSTS};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_units::Instant;

/// What sources have been told lately.
#[derive(Debug, Clone)]
pub(crate) enum Gratuitous {
    /// When each source was told of packets that a neighbour sends.
    Hosts(BTreeMap<(Ipv4Addr, Ipv4Addr), Instant>),
    /// The last routes, each replaced in turn, and instants. As in ns-2 the instant of a new route goes to the place
    /// behind it, so that most routes are told of twice.
    Routes { told: Vec<(Vec<Ipv4Addr>, Instant)>, next: usize },
}

impl Gratuitous {
    pub(crate) fn new(by_route: bool) -> Self {
        match by_route {
            false => Self::Hosts(BTreeMap::new()),
            true => Self::Routes { told: vec![(Vec::new(), Instant::ZERO); MAX_GRATUITOUS_ROUTES], next: 0 },
        }
    }

    /// Whether the first of `hosts`, the way of a packet that `from` sends, may be told of a shorter one at `now`; then
    /// it is taken to be told.
    pub(crate) fn may_tell(&mut self, now: Instant, from: Ipv4Addr, hosts: &[Ipv4Addr]) -> bool {
        match self {
            Self::Hosts(told) => {
                let key = (hosts[0], from);
                told.retain(|_, at| *at + GRAT_REPLY_HOLDOFF > now);
                let is_free = !told.contains_key(&key) && told.len() < MAX_TABLE_HOSTS;
                if is_free {
                    told.insert(key, now);
                }
                is_free
            }
            Self::Routes { told, next } => match told.iter_mut().find(|(route, _)| route == hosts) {
                Some((_, at)) if *at + GRAT_REPLY_HOLDOFF > now => false,
                Some((_, at)) => {
                    *at = now;
                    true
                }
                None => {
                    told[*next].0 = hosts.to_vec();
                    *next = (*next + 1) % told.len();
                    told[*next].1 = now;
                    true
                }
            },
        }
    }

    /// Entries.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Hosts(told) => told.len(),
            Self::Routes { told, .. } => told.len(),
        }
    }
}
