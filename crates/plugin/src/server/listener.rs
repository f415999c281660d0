//! A socket that only its owner can reach, and the connections that come to it.

use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::{Stream as Streams, stream};
use tokio::net::UnixListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

use crate::transport::Stream;

/// Connections that may wait to be taken.
const WAITING: usize = 16;

/// A socket in a folder of its own, which is gone when this is dropped.
pub(super) struct Listener {
    socket: UnixListener,
    folder: Folder,
}

/// A folder that only its owner may enter.
pub(super) struct Folder(PathBuf);

impl Listener {
    /// A new socket below `parent`.
    pub fn below(parent: &Path) -> io::Result<Self> {
        let folder = Folder::below(parent)?;
        let socket = UnixListener::bind(folder.socket())?;
        Ok(Self { socket, folder })
    }

    /// The path of the socket.
    pub fn path(&self) -> PathBuf {
        self.folder.socket()
    }

    /// The connections that come, with TLS if there is a configuration for it; and the folder, to be kept until the end.
    ///
    /// A peer that fails the handshake is no connection, and keeps nobody waiting.
    pub fn incoming(
        self,
        tls: Option<Arc<rustls::ServerConfig>>,
    ) -> (impl Streams<Item = io::Result<Stream>> + Send, Folder) {
        let (sender, receiver) = mpsc::channel(WAITING);
        let acceptor = tls.map(TlsAcceptor::from);
        tokio::spawn(async move {
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
        for attempt in 0_u32.. {
            let path = parent.join(format!("plugin-{process}-{attempt}"));
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
        let _ = std::fs::remove_file(self.socket());
        let _ = std::fs::remove_dir(&self.0);
    }
}
