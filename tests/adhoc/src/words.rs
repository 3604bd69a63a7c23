//! Hosts, lists of hosts and events in the words of packet scripts.
use prismux_routing::RoutingEvent;
use prismux_units::{Duration, Instant};
use std::fmt;
use std::net::Ipv4Addr;

/// The steps of the clock of scripts: not less than the longest jitter of any protocol's broadcasts.
const GRID: Duration = Duration::from_millis(10);

/// The host called `name`: `A` is 10.0.0.1, `*` is everybody.
///
/// # Errors
/// When `name` is no capital letter and not `*`.
pub fn host(name: &str) -> Result<Ipv4Addr, String> {
    match name.as_bytes() {
        [b'*'] => Ok(Ipv4Addr::BROADCAST),
        [letter @ b'A'..=b'Z'] => Ok(Ipv4Addr::new(10, 0, 0, letter - b'A' + 1)),
        _ => Err(format!("{name:?} is no host: hosts are A to Z")),
    }
}

/// The name of a host.
pub fn letter(host: Ipv4Addr) -> String {
    match host.octets() {
        [255, 255, 255, 255] => "*".to_owned(),
        [10, 0, 0, number @ 1..=26] => char::from(b'A' + number - 1).to_string(),
        _ => host.to_string(),
    }
}

/// The hosts of a list `A,B,C`; `-` is an empty one.
///
/// # Errors
/// When one of them is no host.
pub fn read_hosts(text: &str) -> Result<Vec<Ipv4Addr>, String> {
    if text == "-" { Ok(Vec::new()) } else { text.split(',').map(host).collect() }
}

/// A list of hosts in words.
pub fn write_hosts(hosts: &[Ipv4Addr]) -> String {
    let names: Vec<String> = hosts.iter().map(|&host| letter(host)).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(",") }
}

/// The next step of the clock, not before `at`.
pub fn on_grid(at: Instant) -> Instant {
    Instant::from_nanos(at.as_nanos().div_ceil(GRID.as_nanos()) * GRID.as_nanos())
}

/// An event as one word, in its `Debug` form.
struct Word(String);

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An event as one word that scripts can ask for: `delivered-1`, `dropped-1-no-route`, `search-D-1`, `answer-D-2`,
/// `failed-D`, `broken-C`, `salvaged-D`.
pub fn told(event: &RoutingEvent<u32>) -> impl fmt::Debug + use<> {
    Word(match event {
        RoutingEvent::Delivered { payload, .. } => format!("delivered-{payload}"),
        RoutingEvent::Dropped { payload, reason, .. } => format!("dropped-{payload}-{reason}"),
        RoutingEvent::DiscoveryStarted { target, hop_limit } => {
            format!("search-{}-{hop_limit}", letter(*target))
        }
        RoutingEvent::DiscoveryAnswered { target, hops } => format!("answer-{}-{hops}", letter(*target)),
        RoutingEvent::DiscoveryFailed { target } => format!("failed-{}", letter(*target)),
        RoutingEvent::LinkBroken { neighbour } => format!("broken-{}", letter(*neighbour)),
        RoutingEvent::Salvaged { destination } => format!("salvaged-{}", letter(*destination)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_lists_are_read_as_they_are_written() {
        for text in ["-", "A", "A,Z,M"] {
            assert_eq!(write_hosts(&read_hosts(text).expect("a list")), text);
        }
        assert_eq!(host("*").map(letter), Ok("*".to_owned()));
        assert!(host("a").is_err() && host("").is_err());
    }

    #[test]
    fn the_clock_steps_forward() {
        assert_eq!(on_grid(Instant::from_millis(10)), Instant::from_millis(10));
        assert_eq!(on_grid(Instant::from_nanos(10_000_001)), Instant::from_millis(20));
    }
}
