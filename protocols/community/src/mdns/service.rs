//! What is offered, and the records that tell of it (RFC 6763).
use super::DOMAIN;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
use simple_dns::rdata::{A, AAAA, PTR, RData, SRV, TXT};
use simple_dns::{CLASS, Label, Name, ResourceRecord, SimpleDnsError};

/// Seconds for which others remember where a host is, and what else there is (RFC 6762 section 10).
pub(super) const HOST_TTL_S: u32 = 120;
pub(super) const OTHER_TTL_S: u32 = 4500;

/// What is offered. Instance and host are names that nobody else on the link has by chance, as with a hash inside:
/// nothing here asks whether they are taken (RFC 6762 section 8.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// As "_prismux._udp", without the domain.
    pub service_type: String,
    /// The name that people see.
    pub instance: String,
    /// The name of the host, without the domain.
    pub host: String,
    /// Where it listens.
    pub port: u16,
    /// Attributes: keys and values.
    pub text: Vec<(String, String)>,
    /// The host's addresses on this link.
    pub addresses: Vec<IpAddr>,
}

/// Names or attributes that do not fit records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invalid;

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names or attributes that do not fit DNS records")
    }
}

impl core::error::Error for Invalid {}

impl From<SimpleDnsError> for Invalid {
    fn from(_: SimpleDnsError) -> Self {
        Self
    }
}

/// The records of a service.
#[derive(Debug)]
pub(super) struct Records {
    /// That there are services of this type, for those who ask for types (RFC 6763 section 9).
    pub browse: ResourceRecord<'static>,
    /// The instance, where it is, its attributes, and the host's addresses.
    pub service: Vec<ResourceRecord<'static>>,
}

impl Service {
    pub(super) fn records(&self) -> Result<Records, Invalid> {
        let service_type = name_of_type(&self.service_type)?;
        // The instance is one label, whatever is in it.
        let label = Label::new(self.instance.as_bytes())?;
        let labels: Vec<_> = [label].into_iter().chain(service_type.iter().cloned()).collect();
        let instance = Name::new_with_labels(&labels).into_owned();
        let host = [Label::new(self.host.as_bytes())?, Label::new(DOMAIN.as_bytes())?];
        let host = Name::new_with_labels(&host).into_owned();
        let shared = |owner: &Name<'static>, to: &Name<'static>| {
            ResourceRecord::new(owner.clone(), CLASS::IN, OTHER_TTL_S, RData::PTR(PTR(to.clone())))
        };
        let own = |owner: &Name<'static>, ttl_s, data| {
            ResourceRecord::new(owner.clone(), CLASS::IN, ttl_s, data).with_cache_flush(true)
        };
        let mut text = TXT::new();
        for (key, value) in &self.text {
            text.add_attribute(key, Some(value.as_bytes()))?;
        }
        let srv = SRV { priority: 0, weight: 0, port: self.port, target: host.clone() };
        let mut service = alloc::vec![
            shared(&service_type, &instance),
            own(&instance, HOST_TTL_S, RData::SRV(srv)),
            own(&instance, OTHER_TTL_S, RData::TXT(text.into_owned())),
        ];
        service.extend(self.addresses.iter().map(|address| {
            let data = match address {
                IpAddr::V4(address) => RData::A(A { address: address.to_bits() }),
                IpAddr::V6(address) => RData::AAAA(AAAA { address: address.to_bits() }),
            };
            own(&host, HOST_TTL_S, data)
        }));
        let types = Name::new("_services._dns-sd._udp.local")?;
        Ok(Records { browse: shared(&types, &service_type), service })
    }
}

/// The name under which services of a type are found.
pub(super) fn name_of_type(service_type: &str) -> Result<Name<'static>, Invalid> {
    let labels = service_type.split('.').chain([DOMAIN]);
    let labels = labels.map(|label| Label::new(label.as_bytes())).collect::<Result<Vec<_>, _>>()?;
    Ok(Name::new_with_labels(&labels).into_owned())
}

/// The address in a record of addresses.
pub(super) fn address(record: &ResourceRecord<'_>) -> Option<IpAddr> {
    match &record.rdata {
        RData::A(data) => Some(IpAddr::V4(data.address.into())),
        RData::AAAA(data) => Some(IpAddr::V6(data.address.into())),
        _ => None,
    }
}
