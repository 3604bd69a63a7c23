//! Invitations: one line of text with all that a home needs to know of its gateway, and the home's key.
use super::home::{MAX_UPLINKS, uplink_keys};
use crate::tunnel::control::is_valid_name;
use prismux_sealed::{KeyPair, PublicKey};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// How an invitation begins: what it is, and its version.
const PREFIX: &str = "prismux:1:";

/// An invitation. Whoever has it is that home. Text: `prismux:1:` and, with commas between, name, endpoint,
/// addresses (with `+` between), the gateway's public key, the home's private one.
#[derive(Debug, Clone)]
pub struct Invitation {
    /// The home's name.
    pub name: String,
    /// Where the gateway is.
    pub endpoint: SocketAddr,
    /// The gateway's public key.
    pub gateway: PublicKey,
    /// The home's addresses inside the tunnels.
    pub addresses: Vec<IpAddr>,
    /// The home's key.
    pub home: KeyPair,
}

impl Invitation {
    /// The public keys of the home's uplinks, for the gateway's list.
    pub fn public_keys(&self) -> Vec<PublicKey> {
        (0..MAX_UPLINKS).map(|uplink| uplink_keys(&self.home, uplink).public()).collect()
    }
}

impl fmt::Display for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let addresses: Vec<String> = self.addresses.iter().map(ToString::to_string).collect();
        let (gateway, home) = (self.gateway, self.home.private_text());
        write!(f, "{PREFIX}{},{},{},{gateway},{home}", self.name, self.endpoint, addresses.join("+"))
    }
}

impl FromStr for Invitation {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| {
            format!(
                "no invitation: {what}. Expected the whole line that prismux invite has printed, {PREFIX}..."
            )
        };
        let body = text.trim().strip_prefix(PREFIX).ok_or_else(|| wrong("it begins otherwise"))?;
        let fields: Vec<&str> = body.split(',').collect();
        let &[name, endpoint, addresses, gateway, home] = fields.as_slice() else {
            return Err(wrong("it is cut short, or too long"));
        };
        let addresses: Result<Vec<IpAddr>, _> = addresses.split('+').map(str::parse).collect();
        if !is_valid_name(name) {
            return Err(wrong("the name in it is none"));
        }
        Ok(Self {
            name: name.to_owned(),
            endpoint: endpoint.parse().map_err(|_| wrong("the endpoint in it is none"))?,
            gateway: gateway.parse().map_err(|_| wrong("the gateway's key in it is none"))?,
            addresses: addresses.map_err(|_| wrong("an address in it is none"))?,
            home: KeyPair::from_private_text(home).map_err(|_| wrong("the home's key in it is none"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::new_private_key;

    #[test]
    fn an_invitation_is_read_as_it_was_written_and_nothing_shorter_is() {
        let key = || KeyPair::from_private_text(&new_private_key().unwrap().0).unwrap();
        let invitation = Invitation {
            name: "house".to_owned(),
            endpoint: "[2001:db8::1]:51820".parse().unwrap(),
            gateway: key().public(),
            addresses: vec!["10.77.0.2".parse().unwrap(), "fd77::2".parse().unwrap()],
            home: key(),
        };
        let text = invitation.to_string();
        let read: Invitation = format!(" {text}\n").parse().unwrap();
        assert_eq!(read.to_string(), text);
        assert_eq!(read.public_keys(), invitation.public_keys());
        let distinct: std::collections::HashSet<_> = read.public_keys().into_iter().collect();
        assert_eq!(distinct.len(), MAX_UPLINKS, "each uplink has a key of its own");
        for length in 0..text.len() {
            assert!(text[..length].parse::<Invitation>().is_err(), "{length} characters of it");
        }
    }
}
