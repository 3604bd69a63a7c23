//! What the registry's entries mean, and who takes over from whom.
//!
//! | entry | what it says |
//! |---|---|
//! | `homes/NAME` | a home: its addresses and the public keys of its uplinks, as JSON |
//! | `addresses/ADDRESS` | which home has an address |
//! | `revoked/NAME` | a home has no rights |
//! | `gateways/NAME` | a gateway that lives, under its lease: its address and since when |
//! | `serving/NAME` | which gateway serves a home, under that gateway's lease, and since when |
use crate::config::Home;
use crate::config::registry::{is_home_name, network_contains};
use prismux_linux::netconf::Prefix;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::IpAddr;

/// Most homes of a fleet: their keys have numbers of 16 bits, and those of homes that have gone are not used again.
pub const MAX_HOMES: usize = 4096;
/// Most entries that are kept; there are three for each home at most.
const MAX_ENTRIES: usize = 4 * MAX_HOMES;
/// Bytes of the longest entry, key or value: eight keys and some addresses take less than 700.
const MAX_ENTRY_BYTES: usize = 4096;
/// Most addresses of a home.
const MAX_ADDRESSES: usize = 8;

/// An entry was written, or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its key, without the fleet's prefix.
    pub key: String,
    /// `None` when it was removed.
    pub value: Option<String>,
}

/// A gateway that lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gateway {
    /// Where the balancer reaches it, if its file says so.
    pub address: Option<IpAddr>,
    /// Seconds since 1970.
    pub since: u64,
}

/// Which gateway serves a home.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serving {
    /// Its name.
    pub gateway: String,
    /// Seconds since 1970.
    pub since: u64,
}

/// The entries as they are.
#[derive(Debug, Clone, Default)]
pub struct Contents(BTreeMap<String, String>);

/// What they mean.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    /// Homes that may come in.
    pub homes: Vec<Home>,
    /// Homes whose rights have been taken away.
    pub revoked: BTreeSet<String>,
    /// Gateways that live, by name.
    pub gateways: BTreeMap<String, Gateway>,
    /// Who serves whom.
    pub serving: BTreeMap<String, Serving>,
    /// Entries that mean nothing: key and reason.
    pub malformed: Vec<(String, String)>,
}

impl Contents {
    /// All entries anew.
    pub fn replace(&mut self, entries: Vec<(String, String)>) {
        self.0.clear();
        entries.into_iter().for_each(|(key, value)| self.apply(Change { key, value: Some(value) }));
    }

    /// One entry has changed. What is too much or too long is kept as an empty entry, or not at all.
    pub fn apply(&mut self, Change { key, value }: Change) {
        let has_room = self.0.len() < MAX_ENTRIES || self.0.contains_key(&key);
        match value {
            _ if key.len() > MAX_ENTRY_BYTES => {}
            Some(value) if value.len() > MAX_ENTRY_BYTES && has_room => {
                self.0.insert(key, String::new());
            }
            Some(value) if has_room => {
                self.0.insert(key, value);
            }
            Some(_) => {}
            None => {
                self.0.remove(&key);
            }
        }
    }

    /// Homes and revocations: what outlives the gateways.
    pub fn lasting(&self) -> impl Iterator<Item = (&str, &str)> {
        let lasts = |key: &str| key.starts_with("homes/") || key.starts_with("revoked/");
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str())).filter(move |(key, _)| lasts(key))
    }

    /// What they mean in a fleet whose homes have addresses of `network`.
    pub fn view(&self, network: &[Prefix]) -> View {
        let mut view = View::default();
        let (mut addresses, mut keys) = (HashSet::new(), HashSet::new());
        for (key, value) in &self.0 {
            let read = match key.split_once('/') {
                Some(("homes", name)) => home_of(name, value, network).and_then(|home| {
                    let is_free = home.addresses.iter().all(|address| !addresses.contains(address))
                        && home.public_keys.iter().all(|key| !keys.contains(&key.to_string()));
                    if !is_free || view.homes.len() >= MAX_HOMES {
                        return Err("another home has its address or key, or there are too many".to_owned());
                    }
                    addresses.extend(home.addresses.iter().copied());
                    keys.extend(home.public_keys.iter().map(ToString::to_string));
                    view.homes.push(home);
                    Ok(())
                }),
                Some(("revoked", name)) => {
                    view.revoked.insert(name.to_owned());
                    Ok(())
                }
                Some(("gateways", name)) => parse(value).map(|gateway| {
                    view.gateways.insert(name.to_owned(), gateway);
                }),
                Some(("serving", name)) => parse(value).map(|serving| {
                    view.serving.insert(name.to_owned(), serving);
                }),
                Some(("addresses", _)) => Ok(()),
                _ => Err("no such kind of entry".to_owned()),
            };
            if let Err(reason) = read {
                view.malformed.push((key.clone(), reason));
            }
        }
        let revoked = &view.revoked;
        view.homes.retain(|home| !revoked.contains(&home.name));
        view
    }
}

fn parse<'a, T: Deserialize<'a>>(value: &'a str) -> Result<T, String> {
    serde_json::from_str(value).map_err(|error| error.to_string())
}

fn home_of(name: &str, value: &str, network: &[Prefix]) -> Result<Home, String> {
    let home: Home = parse(value)?;
    if home.name != name || !is_home_name(name) {
        return Err("it has another name, or none that a home may have".to_owned());
    }
    if !(1..=MAX_ADDRESSES).contains(&home.addresses.len()) {
        return Err(format!("it needs 1 to {MAX_ADDRESSES} addresses"));
    }
    if !(1..=crate::config::MAX_UPLINKS).contains(&home.public_keys.len()) {
        return Err(format!("it needs 1 to {} public keys", crate::config::MAX_UPLINKS));
    }
    match home.addresses.iter().find(|&&address| !network_contains(network, address)) {
        Some(stray) => Err(format!("{stray} is not in the fleet's network")),
        None => Ok(home),
    }
}

/// What a gateway has to do about who serves whom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Steps {
    /// Homes to say of that this gateway serves them.
    pub claim: Vec<String>,
    /// Homes that it serves no longer.
    pub release: Vec<String>,
    /// Homes that another gateway has taken over: their links end here.
    pub let_go: BTreeSet<String>,
}

/// The steps of the gateway `own`, which serves the homes `served` and has said so of those in `claimed`. A home that
/// has come here is taken over from whoever served it; one that was claimed here before and is another's now is let go.
pub fn steps(
    own: &str,
    served: &BTreeSet<String>,
    claimed: &mut BTreeSet<String>,
    serving: &BTreeMap<String, Serving>,
) -> Steps {
    let mut steps = Steps::default();
    let is_own = |home: &String| serving.get(home).is_some_and(|at| at.gateway == own);
    for home in served {
        match serving.get(home) {
            Some(at) if at.gateway == own => {
                claimed.insert(home.clone());
            }
            Some(_) if claimed.contains(home) => {
                steps.let_go.insert(home.clone());
            }
            _ => steps.claim.push(home.clone()),
        }
    }
    let gone = |home: &&String| !served.contains(*home);
    steps.release = claimed.iter().filter(gone).filter(|home| is_own(home)).cloned().collect();
    claimed.retain(|home| served.contains(home));
    steps
}

#[cfg(test)]
mod tests;
