//! Which protocol carries an object.
use std::fmt;
use std::str::FromStr;

/// What carries an object over the open paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Transport {
    /// R²CP: the client asks, over any number of interfaces and from any number of servers.
    #[default]
    R2cp,
    /// pTCP: one server sends, over a pipe for each interface.
    Ptcp,
}

/// No transport has this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTransport(String);

impl Transport {
    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::R2cp => "r2cp",
            Self::Ptcp => "ptcp",
        }
    }
}

impl FromStr for Transport {
    type Err = UnknownTransport;
    fn from_str(text: &str) -> Result<Self, UnknownTransport> {
        let known = [Self::R2cp, Self::Ptcp].into_iter().find(|transport| transport.name() == text);
        known.ok_or_else(|| UnknownTransport(text.to_string()))
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for UnknownTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is no transport of fetch; known are r2cp and ptcp", self.0)
    }
}

impl std::error::Error for UnknownTransport {}
