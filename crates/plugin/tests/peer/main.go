// A provider on the official libraries, old and new, as they are muxed in practice: the peer of our client's tests.
package main

import (
	"context"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
	"github.com/hashicorp/terraform-plugin-mux/tf5muxserver"
)

func main() {
	ctx := context.Background()
	mux, err := tf5muxserver.NewMuxServer(ctx,
		func() tfprotov5.ProviderServer { return legacyProvider().GRPCProvider() },
		providerserver.NewProtocol5(&modernProvider{}),
	)
	if err != nil {
		log.Fatal(err)
	}
	if err := tf5server.Serve("registry.terraform.io/example/peer", mux.ProviderServer); err != nil {
		log.Fatal(err)
	}
}
