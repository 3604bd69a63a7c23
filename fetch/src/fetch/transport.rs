//! What only the transport that asks can do is not promised of the other.
use super::{FetchRequest, Transport, UsageError};
use crate::url::Url;
use prismux_ptcp::MAX_PIPES;
use prismux_r2cp::policy::Cost;

/// Checks that the request's transport can do what is wanted.
///
/// # Errors
/// With what it cannot do.
pub(super) fn check(request: &FetchRequest) -> Result<(), UsageError> {
    if request.transport == Transport::R2cp {
        return Ok(());
    }
    if request.rate.is_some() {
        return Err(UsageError::RateByPtcp);
    }
    if !request.costs.is_empty() {
        return Err(UsageError::CostByPtcp);
    }
    if request.via.len() > usize::from(MAX_PIPES) {
        return Err(UsageError::InterfacesByPtcp(request.via.len()));
    }
    request.urls.iter().try_for_each(|url| check_server(request, url))
}

/// Checks that the request's transport can use the server of `url` too.
///
/// # Errors
/// When it cannot.
pub(super) fn check_server(request: &FetchRequest, url: &Url) -> Result<(), UsageError> {
    if request.transport == Transport::R2cp {
        return Ok(());
    }
    let is_same = |other: &Url| (other.key, &other.host, other.port) == (url.key, &url.host, url.port);
    if request.urls.first().is_some_and(|first| !is_same(first)) {
        return Err(UsageError::ServersByPtcp);
    }
    if url.cost != Cost(0) {
        return Err(UsageError::CostByPtcp);
    }
    Ok(())
}
