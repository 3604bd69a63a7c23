//! What is done with what is not TCP, by protocol and port.
use super::text;
use prismux_datagrams::Class;
use prismux_wire::FlowKey;
use prismux_wire::gre::KEY_BYTES;
use prismux_wire::ip::protocol;
use serde::Deserialize;
use std::fmt;
use std::str::FromStr;

/// The `[datagrams]` table of a home or a gateway: how what is not TCP goes. Both ends decide for what they send.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Datagrams {
    /// Of flows that no list names: `"pin"`, `"duplicate"` or `"resequence"`.
    #[serde(rename = "default", deserialize_with = "text::one")]
    pub of_others: Class,
    /// Over one link each.
    #[serde(deserialize_with = "text::list")]
    pub pin: Vec<Traffic>,
    /// Over the two quickest links, each packet twice. May name TCP.
    #[serde(deserialize_with = "text::list")]
    pub duplicate: Vec<Traffic>,
    /// Over all links, and back into order at the far end.
    #[serde(deserialize_with = "text::list")]
    pub resequence: Vec<Traffic>,
}

/// Flows of a protocol, or of one port of it at either end. Text: `"udp/443"`, `"icmp"`, `"47"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// The protocol's number in IP headers.
    pub protocol: u8,
    /// The port, at whichever end.
    pub port: Option<u16>,
}

/// Protocols that have names.
const NAMES: [(&str, u8); 5] = [
    ("udp", protocol::UDP),
    ("tcp", protocol::TCP),
    ("icmp", protocol::ICMP),
    ("icmpv6", protocol::ICMPV6),
    ("esp", protocol::ESP),
];

impl FromStr for Traffic {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            format!("\"{text}\" is no traffic, expected such as \"udp/443\", \"tcp/22\", \"icmp\" or \"50\"")
        };
        let (name, port) = text.split_once('/').map_or((text, None), |(name, port)| (name, Some(port)));
        let named = NAMES.iter().find(|(known, _)| *known == name).map(|&(_, number)| number);
        let protocol = named.or_else(|| name.parse().ok()).ok_or_else(expected)?;
        let has_ports = [protocol::UDP, protocol::TCP].contains(&protocol);
        let port =
            port.map(|port| port.parse().ok().filter(|_| has_ports).ok_or_else(expected)).transpose()?;
        Ok(Self { protocol, port })
    }
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, number)| *number == self.protocol) {
            Some((name, _)) => write!(f, "{name}")?,
            None => write!(f, "{}", self.protocol)?,
        }
        self.port.map_or(Ok(()), |port| write!(f, "/{port}"))
    }
}

impl Traffic {
    fn has(&self, flow: &FlowKey) -> bool {
        let port = |port| flow.source_port == port || flow.destination_port == port;
        self.protocol == flow.protocol && self.port.is_none_or(port)
    }
}

impl Datagrams {
    /// What is done with a flow; `None` for TCP that no list names, which is striped by itself. Lists with a port come
    /// before those without.
    pub fn class_of(&self, flow: &FlowKey) -> Option<Class> {
        let lists = [
            (&self.pin, Class::Pin),
            (&self.duplicate, Class::Duplicate),
            (&self.resequence, Class::Resequence),
        ];
        let named = |with_port: bool| {
            let names =
                |list: &[Traffic]| list.iter().any(|one| one.port.is_some() == with_port && one.has(flow));
            lists.iter().find(|(list, _)| names(list)).map(|&(_, class)| class)
        };
        named(true).or_else(|| named(false)).or((flow.protocol != protocol::TCP).then_some(self.of_others))
    }

    /// Bytes that packets of these classes have beside a number, at most.
    pub fn order_bytes(&self) -> usize {
        let has_order =
            self.of_others != Class::Pin || !self.duplicate.is_empty() || !self.resequence.is_empty();
        if has_order { KEY_BYTES } else { 0 }
    }

    /// The first thing that makes no sense: the key at fault and what was expected.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        let lists = [&self.pin, &self.duplicate, &self.resequence];
        let all: Vec<&Traffic> = lists.into_iter().flatten().collect();
        for (index, traffic) in all.iter().enumerate() {
            if all.iter().take(index).any(|other| other == traffic) {
                return Err(("datagrams", format!("\"{traffic}\" is listed twice")));
            }
        }
        match self.pin.iter().chain(&self.resequence).find(|traffic| traffic.protocol == protocol::TCP) {
            Some(tcp) => Err(("datagrams", format!("\"{tcp}\": TCP is striped by itself, or duplicated"))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(protocol: u8, source_port: u16, destination_port: u16) -> FlowKey {
        let (source, destination) = ([10, 77, 0, 2].into(), [203, 0, 113, 10].into());
        FlowKey { source, destination, source_port, destination_port, protocol }
    }

    fn table(text: &str) -> Result<Datagrams, String> {
        let table: Datagrams = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        table.check().map_err(|(_, message)| message).map(|()| table)
    }

    #[test]
    fn a_flow_has_the_class_of_its_port_else_of_its_protocol_else_of_others() {
        let text = "default = \"resequence\"\npin = [\"udp/53\", \"50\"]\nduplicate = [\"udp\", \"tcp/22\"]";
        let table = table(text).unwrap();
        for (flow, class) in [
            (flow(17, 40_000, 53), Some(Class::Pin)),
            (flow(17, 53, 40_000), Some(Class::Pin)),
            (flow(17, 40_000, 443), Some(Class::Duplicate)),
            (flow(50, 0, 0), Some(Class::Pin)),
            (flow(1, 0, 0), Some(Class::Resequence)),
            (flow(6, 40_000, 22), Some(Class::Duplicate)),
            (flow(6, 40_000, 443), None),
        ] {
            assert_eq!(table.class_of(&flow), class, "{flow:?}");
        }
        assert_eq!((table.order_bytes(), Datagrams::default().order_bytes()), (4, 0));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            ("default = \"best\"", "expected pin, duplicate or resequence"),
            ("pin = [\"udp/70000\"]", "such as \"udp/443\""),
            ("pin = [\"icmp/8\"]", "such as \"udp/443\""),
            ("pin = [\"udp/1\"]\nduplicate = [\"udp/1\"]", "\"udp/1\" is listed twice"),
            ("resequence = [\"tcp/80\"]", "TCP is striped by itself"),
        ] {
            let error = table(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
