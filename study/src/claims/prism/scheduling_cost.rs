//! What ADAS costs for a packet as the links grow in number (PR-052): with the papers' ordered list, and with a look
//! at every link, which is what our proxy does.

use crate::claims::verdict::Finding;
use crate::number::digits;
use prismux_endpoint::random::{RandomStream, Seed};
use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::{BTreeSet, VecDeque};

/// Packets sent, each followed by the ACK of an older one.
const PACKETS: usize = 4000;
/// Packets in flight for each link, on average.
const IN_FLIGHT: usize = 4;
const FEW: usize = 16;
const MANY: usize = 256;

/// A link as the papers' table has it (section IV-C): NIP, hRTT, W and N.
#[derive(Debug, Clone, Copy)]
struct Link {
    in_flight: u32,
    weight: f64,
    hrtt_us: u64,
}

impl Link {
    /// What decides: NIP, then hRTT, then the number.
    fn key(&self, number: usize) -> Key {
        Key { nip: (f64::from(self.in_flight) / self.weight) as u64, hrtt_us: self.hrtt_us, number }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    nip: u64,
    hrtt_us: u64,
    number: usize,
}

thread_local! {
    static COMPARISONS: Cell<u64> = const { Cell::new(0) };
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        COMPARISONS.set(COMPARISONS.get() + 1);
        (self.nip, self.hrtt_us, self.number).cmp(&(other.nip, other.hrtt_us, other.number))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Links, and their keys in order.
#[derive(Debug)]
struct Links {
    table: Vec<Link>,
    ordered: BTreeSet<Key>,
}

impl Links {
    fn new(count: usize, random: &mut RandomStream) -> Self {
        let link = |_| Link {
            in_flight: 0,
            weight: 1.0 + random.uniform() * 3.0,
            hrtt_us: 20_000 + random.below(100_000),
        };
        let table: Vec<Link> = (0..count).map(link).collect();
        let ordered = table.iter().enumerate().map(|(number, link)| link.key(number)).collect();
        Self { table, ordered }
    }

    /// The change of a link moves it in the order.
    fn change(&mut self, number: usize, change: impl FnOnce(&mut Link)) {
        let link = &mut self.table[number];
        self.ordered.remove(&link.key(number));
        change(link);
        self.ordered.insert(link.key(number));
    }

    /// Rules 2 and 3 by the order.
    fn first(&self) -> Option<usize> {
        self.ordered.first().map(|key| key.number)
    }

    /// Rules 2 and 3 by a look at every link.
    fn least(&self) -> Option<usize> {
        let keys = self.table.iter().enumerate().map(|(number, link)| link.key(number));
        keys.min_by_key(|key| (key.nip, key.hrtt_us, key.number)).map(|key| key.number)
    }
}

/// Comparisons for a packet and its ACK with the ordered list, and how often it chose otherwise than a look at every
/// link.
fn comparisons(count: usize) -> (f64, usize) {
    let mut random = Seed(1).stream("reproduce/scheduling-cost");
    let mut links = Links::new(count, &mut random);
    let mut sent = VecDeque::new();
    let (mut differs, before) = (0, COMPARISONS.get());
    for _ in 0..PACKETS {
        differs += usize::from(links.first() != links.least());
        let Some(chosen) = links.first() else { break };
        links.change(chosen, |link| link.in_flight += 1);
        sent.push_back(chosen);
        if sent.len() > count * IN_FLIGHT {
            let Some(acked) = sent.pop_front() else { break };
            let sample_us = 20_000 + random.below(100_000);
            links.change(acked, |link| {
                link.in_flight -= 1;
                link.hrtt_us = (3 * link.hrtt_us + sample_us) / 4;
            });
        }
    }
    ((COMPARISONS.get() - before) as f64 / PACKETS as f64, differs)
}

/// The claim is a bound, judged by growth: as many more comparisons as the logarithm of the number of links grows,
/// and a quarter for what a packet costs in any case.
pub(super) fn judge() -> Finding {
    let ((few, one), (many, other)) = (comparisons(FEW), comparisons(MANY));
    let bound = 1.25 * (MANY as f64).ln() / (FEW as f64).ln();
    let text = format!(
        "comparisons for a packet and its ACK: {} over {FEW} links, {} over {MANY}; bound of the growth {}",
        digits(few),
        digits(many),
        digits(bound)
    );
    let same = one + other == 0;
    Finding::shape("PR-052", same && many <= bound * few, text).because(
        "the papers' ordered list, counted apart from the proxy; it chooses as a look at every link does. The proxy \
         itself looks at every link, n comparisons, which is quicker for the handful that a community has (the \
         paper: fewer than 10)",
    )
}

#[cfg(test)]
mod tests {
    use super::comparisons;

    #[test]
    fn the_ordered_list_chooses_as_a_look_at_every_link_and_costs_more_with_more_links() {
        let ((few, one), (many, other)) = (comparisons(4), comparisons(64));
        assert_eq!((one, other), (0, 0));
        assert!(few > 1.0 && many > 1.5 * few, "{few} {many}");
    }
}
