//! Offers as they are found: what tells of them by either protocol, and when two findings are one offer.
use super::lan::Lan;
use super::{DESK_PORT, DNS_SERVICE_TYPE, SERVICE_TYPE, code};
use prismux_community::lending::is_valid_name;
use prismux_community::{mdns, slp};
use prismux_sealed::PublicKey;
use std::net::{IpAddr, SocketAddr};

/// By which protocol an offer has been found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The Service Location Protocol (RFC 2608).
    Slp,
    /// Multicast DNS (RFC 6762).
    Mdns,
}

impl Way {
    /// As programs read it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slp => "slp",
            Self::Mdns => "mdns",
        }
    }
}

/// Where an offer has been found, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Where it is asked.
    pub address: SocketAddr,
    /// By what it was found.
    pub by: Way,
}

/// An uplink that somebody offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The name that the lender gives itself.
    pub name: String,
    /// The key that it says is its own: its [`Offer::code`] tells.
    pub key: PublicKey,
    /// Where it is asked: at its IPv4 address if one has been found, through which routes of IPv4 can lead.
    pub address: SocketAddr,
    /// Where it has been found, in the order of the answers: of either family one address at most.
    pub places: Vec<Place>,
    /// This host's device towards it.
    pub device: String,
}

impl Offer {
    /// What the lender's own screen shows, if it is the lender.
    pub fn code(&self) -> String {
        code::of_lender(&self.name, self.key)
    }

    /// Where such an offer is, as others find it by the Service Location Protocol.
    pub(super) fn url(name: &str, key: PublicKey, address: SocketAddr) -> String {
        format!("{SERVICE_TYPE}://{address}/{name}/{}", to_hex(key))
    }

    /// Such an offer as others find it by multicast DNS. The code makes its names unlike all others.
    pub(super) fn service(name: &str, key: PublicKey, addresses: Vec<IpAddr>) -> mdns::Service {
        let code = code::of_lender(name, key);
        mdns::Service {
            service_type: DNS_SERVICE_TYPE.to_owned(),
            instance: format!("{name} {code}"),
            host: format!("prismux-{}", code.to_ascii_lowercase()),
            port: DESK_PORT,
            text: vec![
                ("txtvers".to_owned(), "1".to_owned()),
                ("name".to_owned(), name.to_owned()),
                ("key".to_owned(), to_hex(key)),
            ],
            addresses,
        }
    }

    /// Reads what was found by the Service Location Protocol. A host speaks for itself alone: what it says of other
    /// addresses is no offer.
    pub(super) fn of_url(found: &slp::Found, lan: &Lan) -> Option<Self> {
        let rest = found.url.strip_prefix(SERVICE_TYPE)?.strip_prefix("://")?;
        let mut parts = rest.split('/');
        let (address, name, key) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
        let address: SocketAddr = address;
        let is_own = address.ip() == found.from.ip() && address.port() != 0 && parts.next().is_none();
        let place = Place { address, by: Way::Slp };
        is_own.then(|| Self::of(name, key, place, lan))?
    }

    /// Reads what was found by multicast DNS.
    pub(super) fn of_service(found: &mdns::Found, lan: &Lan) -> Option<Self> {
        let place = Place { address: found.at, by: Way::Mdns };
        Self::of(found.attribute("name")?, found.attribute("key")?, place, lan)
    }

    fn of(name: &str, key: &str, place: Place, lan: &Lan) -> Option<Self> {
        if !lan.has(place.address.ip()) || !is_valid_name(name) {
            return None;
        }
        let (key, device) = (PublicKey(from_hex(key)?), lan.device.clone());
        Some(Self { name: name.to_owned(), key, address: place.address, places: vec![place], device })
    }

    /// Takes up another finding of the same offer; whether it is one. With another address of the same family it is
    /// somebody else's who has copied name and key, or who has two: both stay.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let is_same = (&self.name, self.key, &self.device) == (&other.name, other.key, &other.device);
        let fits =
            |old: &Place| old.address == other.address || old.address.is_ipv4() != other.address.is_ipv4();
        if !is_same || !self.places.iter().all(fits) {
            return false;
        }
        let news = other.places.iter().filter(|new| !self.places.contains(new));
        self.places.extend(news.copied().collect::<Vec<_>>());
        if other.address.is_ipv4() {
            self.address = other.address;
        }
        true
    }
}

fn to_hex(key: PublicKey) -> String {
    key.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut key = [0; 32];
    for (place, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::{Offer, Place, Way};
    use prismux_sealed::PublicKey;

    fn offer(key: u8, by: Way, address: &str) -> Offer {
        let address = address.parse().unwrap();
        let (name, device) = ("kitchen".to_owned(), "lan0".to_owned());
        Offer { name, key: PublicKey([key; 32]), address, places: vec![Place { address, by }], device }
    }

    #[test]
    fn findings_of_one_lender_are_one_offer_and_copies_of_its_key_stay_apart() {
        let (ipv4, ipv6) = ("192.0.2.7:4761", "[fe80::7%2]:4761");
        let mut kitchen = offer(1, Way::Mdns, ipv6);
        for other in [offer(1, Way::Slp, ipv4), offer(1, Way::Mdns, ipv4), offer(1, Way::Mdns, ipv6)] {
            assert!(kitchen.join(&other), "{other:?}");
        }
        assert_eq!(kitchen.places.len(), 3, "{kitchen:?}");
        assert_eq!(kitchen.address, ipv4.parse().unwrap());
        for other in [
            offer(1, Way::Mdns, "192.0.2.66:4761"),
            offer(1, Way::Slp, "192.0.2.7:4762"),
            offer(1, Way::Mdns, "[fe80::66%2]:4761"),
            offer(2, Way::Slp, ipv4),
        ] {
            assert!(!kitchen.join(&other), "{other:?}");
        }
        assert_eq!((kitchen.places.len(), kitchen.address), (3, ipv4.parse().unwrap()));
    }
}
