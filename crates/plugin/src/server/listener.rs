//! A private Unix socket for the plugin host, and its incoming connections.

use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::{Stream as Streams, stream};
use tokio::net::UnixListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

use crate::transport::Stream;

/// The capacity of the queue of accepted connections.
const BACKLOG: usize = 16;

/// A socket in a private directory, which is removed on drop.
pub(super) struct Listener {
    socket: UnixListener,
    folder: Folder,
}

/// A directory that only its owner may enter.
pub(super) struct Folder(PathBuf);

impl Listener {
    /// Creates a socket in a new directory below `parent`.
    pub fn below(parent: &Path) -> io::Result<Self> {
        let folder = Folder::below(parent)?;
        let socket = UnixListener::bind(folder.socket())?;
        Ok(Self { socket, folder })
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> PathBuf {
        self.folder.socket()
    }

    /// Accepts connections, with TLS if configured; the returned directory must be kept alive for as long.
    ///
    /// A peer that fails the TLS handshake is ignored and delays no other peer.
    pub fn incoming(
        self,
        tls: Option<Arc<rustls::ServerConfig>>,
    ) -> (impl Streams<Item = io::Result<Stream>> + Send, Folder) {
        let (sender, receiver) = mpsc::channel(BACKLOG);
        let acceptor = tls.map(TlsAcceptor::from);
        tokio::spawn(async move {
            // Each handshake runs in a task of its own, so that a stalled peer does not block others.
            while let Ok((socket, _)) = self.socket.accept().await {
                let (sender, acceptor) = (sender.clone(), acceptor.clone());
                tokio::spawn(async move {
                    let stream = match acceptor {
                        None => Stream::new(socket),
                        Some(acceptor) => match acceptor.accept(socket).await {
                            Ok(stream) => Stream::new(stream),
                            Err(_) => return,
                        },
                    };
                    // The server is gone if the receiver is.
                    let _ = sender.send(Ok(stream)).await;
                });
            }
        });
        let incoming = stream::unfold(receiver, |mut receiver: mpsc::Receiver<_>| async move {
            receiver.recv().await.map(|connection| (connection, receiver))
        });
        (incoming, self.folder)
    }
}

impl Folder {
    fn below(parent: &Path) -> io::Result<Self> {
        let process = std::process::id();
        // A directory of an earlier process with the same ID may be left over.
        for attempt in 0_u32.. {
            let path = parent.join(format!("plugin-{process}-{attempt}"));
            // The directory protects the socket: not all systems check the permissions of the socket itself.
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 10_000 => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn socket(&self) -> PathBuf {
        self.0.join("socket")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Best effort: the directory of temporary files is cleaned by the system.
        let _ = std::fs::remove_file(self.socket());
        let _ = std::fs::remove_dir(&self.0);
    }
}
